/* How the points of each set are drawn, and when anew: see problem.h and cloud.h. */
#include <stdarg.h>
#include <stdio.h>

#include "problem/cloud.h"

/* Candidates of a set at most: each has a residual in memory. */
enum { MOST_CANDIDATES = 1 << 28 };

/* Where a set's settings stand in the file. */
typedef struct reading {
    sgi_problem *problem;
    sgi_reader *reader;
    int set;
    const sgi_yaml *name; /* of the condition; NULL: the domain */
} reading;

/* The value of the condition's key, or what is given for all sets, or the name. */
static const sgi_yaml *find_node(const reading *r, const char *key, const char *section)
{
    const sgi_yaml *root = r->problem->root, *node = NULL;
    if (r->name)
        node = sgi_yaml_get(r->name->next, key);
    if (!node)
        node = sgi_yaml_get(root, section);
    if (node && node->kind == SG_YAML_MAPPING && sgi_yaml_get(node, "distribution"))
        node = sgi_yaml_get(node, "distribution");
    return node ? node : r->name ? r->name : root;
}

__attribute__((format(printf, 4, 5))) static sg_status refuse(const reading *r,
                                                              const sgi_yaml *node,
                                                              const char *advice,
                                                              const char *format, ...)
{
    const sgi_point_set *set = &r->problem->sets[r->set];
    char message[300], what[96] = "the domain";
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (r->name)
        snprintf(what, sizeof what, "condition '%.60s'", r->name->text);
    else if (set->region)
        snprintf(what, sizeof what, "the region '%.60s'", set->name);
    sgi_yaml_place(r->reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(r->reader->diagnostic, "%s %s", what, message);
    sgi_diagnostic_suggest(r->reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

/* Every piece gets a point. */
static sg_status check_pieces(const reading *r)
{
    const sgi_point_set *set = &r->problem->sets[r->set];
    char advice[64];
    if (set->items >= set->face_count)
        return SG_OK;
    snprintf(advice, sizeof advice, "points: %d, or more", set->face_count);
    return refuse(r, find_node(r, "points", "points"), advice,
                  "has %d pieces and %lld point%s: each piece needs one of its own",
                  set->face_count, (long long)set->items, set->items == 1 ? "" : "s");
}

static bool all_grids(const reading *r, int64_t items, char *message)
{
    const sgi_point_set *set = &r->problem->sets[r->set];
    int pieces = set->kind == SG_SET_DOMAIN ? 1 : set->face_count;
    bool good = true;
    for (int p = 0; p < pieces && good; p++) {
        int64_t count = set->kind == SG_SET_DOMAIN
                            ? items
                            : sgi_face_begin(set, items, p + 1) - sgi_face_begin(set, items, p);
        good = sgi_piece_has_grid(r->problem, r->set, p, count, message);
    }
    return good;
}

/* A number of points near the one that was asked for with which every piece has a grid; 0: none. */
static int64_t find_count(const reading *r, int64_t items)
{
    char unread[SG_GRID_MESSAGE];
    for (int64_t away = 1; away < 512; away++) {
        if (all_grids(r, items + away, unread))
            return items + away;
        if (items > away && all_grids(r, items - away, unread))
            return items - away;
    }
    return 0;
}

static sg_status check_grid(const reading *r)
{
    const sgi_point_set *set = &r->problem->sets[r->set];
    char message[SG_GRID_MESSAGE], advice[96] = "'sobol' is as even and works everywhere";
    if (set->distribution != SG_DRAW_GRID || all_grids(r, set->items, message))
        return SG_OK;
    bool box =
        !set->curved && !set->region && (set->kind != SG_SET_DOMAIN || !r->problem->domain.region);
    int64_t count = box ? find_count(r, set->items) : 0;
    if (count > 0)
        snprintf(advice, sizeof advice, "points: %lld  would do, or 'sobol'", (long long)count);
    return refuse(r, find_node(r, "sampling", "sampling"), advice, "%s", message);
}

static bool is_of_points(const reading *r)
{
    bool points = true;
    for (int p = 0; p < r->problem->sets[r->set].face_count; p++) {
        int dimension, numbers;
        sgi_piece_width(r->problem, r->set, p, SG_USE_GRID, &dimension, &numbers);
        points = points && dimension == 0;
    }
    return points;
}

static sg_status check_refinement(const reading *r)
{
    const sgi_refinement_settings *s = &r->problem->settings.refinement;
    const sgi_point_set *set = &r->problem->sets[r->set];
    const sgi_yaml *node = find_node(r, "refine", "refinement");
    double candidates = s->method == SG_REFINE_R3 ? 1 : (double)s->candidates;
    if (!set->refine)
        return SG_OK;
    if (s->method == SG_REFINE_NONE)
        return refuse(r, node, "as in  refinement: rad",
                      "is to be refined, and refinement.method is none");
    if (set->integral)
        return refuse(r, node, "", "is an integral, whose points have their own weights");
    if (r->name && is_of_points(r))
        return refuse(r, node, "", "consists of single points, of which there are no others");
    if (set->distribution == SG_DRAW_GRID)
        return refuse(r, node, "choose another distribution, as 'sobol'",
                      "has the points of a grid, which cannot be refined");
    if ((double)set->items * candidates > MOST_CANDIDATES)
        return refuse(r, node, "give fewer points, or fewer refinement.candidates",
                      "would be refined from more than %d points at a time", MOST_CANDIDATES);
    if (s->method == SG_REFINE_RAR_D && s->most > 0 && s->most < set->items)
        return refuse(r, node, "refinement.most counts the points of a set at the end",
                      "has %lld points already, more than refinement.most", (long long)set->items);
    return SG_OK;
}

static sg_status finish_set(const reading *r, const sgi_condition_settings *own)
{
    const sgi_sampling_settings *all = &r->problem->settings.sampling;
    sgi_point_set *set = &r->problem->sets[r->set];
    set->distribution =
        (sgi_distribution)(own && own->sampling > 0 ? own->sampling - 1 : all->distribution);
    set->renew = own && own->renew >= 0 ? own->renew : all->renew;
    /* A refinement that is switched off is that for conditions too. */
    bool off = r->problem->settings.refinement.method == SG_REFINE_NONE;
    set->refine =
        own ? own->refine && !(off && sgi_yaml_get(r->problem->root, "refinement")) : !off;
    sg_status status = own ? check_pieces(r) : SG_OK;
    if (status == SG_OK)
        status = check_grid(r);
    return status == SG_OK ? check_refinement(r) : status;
}

sg_status sgi_problem_finish_points(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "conditions");
    const sgi_yaml *name = section ? section->first : NULL;
    reading r = {.problem = problem, .reader = reader};
    sg_status status = SG_OK;
    for (; r.set < problem->set_count && problem->sets[r.set].kind == SG_SET_DOMAIN &&
           status == SG_OK;
         r.set++)
        status = finish_set(&r, NULL);
    for (int i = 0; name && status == SG_OK; name = name->next->next, i++) {
        r.name = name;
        if (problem->conditions[i].exact) /* it has no points */
            continue;
        status = finish_set(&r, &problem->conditions[i]);
        r.set++;
    }
    return status;
}
