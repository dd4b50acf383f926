/* The report: see report.h. Read everything, write the sections in reading order, write the file.
 */
#include "report/report.h"

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "report/kind.h"
#include "report/page.h"
#include "report/summary.h"

static sg_status write_page(const char *folder, const sgi_text *out, sg_diagnostic *diagnostic)
{
    char *path = sgi_path_join(&out->allocator, folder, "report.html");
    if (!path)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, folder, "out of memory");
    sg_status status = sgi_file_write(path, out->data, out->size, &out->allocator, diagnostic);
    sgi_release(&out->allocator, path);
    return status;
}

/* The sections first, and then what stands before them: the contents list those that there are. */
static void write_sections(sgi_page *page)
{
    sgi_text *out = page->out, body;
    sgi_text_begin(&body, &out->allocator);
    const sgi_report_kind *kind = page->summary->kind;
    page->out = &body;
    for (size_t s = 0; s < kind->section_count; s++)
        kind->sections[s](page);
    page->out = out;
    if (body.status == SG_OK) {
        sgi_page_begin(page);
        sgi_page_contents(out, &body);
        sgi_text_bytes(out, body.data, body.size);
        sgi_page_end(out, page->running);
    } else {
        out->status = body.status;
    }
    sgi_text_release(&body);
}

static sg_status write_report(const char *folder, bool running, const sg_allocator *allocator,
                              sg_diagnostic *diagnostic)
{
    sgi_runs runs;
    sg_status status = sgi_runs_read(&runs, folder, true, allocator, diagnostic);
    if (status != SG_OK)
        return status;
    sgi_text out;
    sgi_text_begin(&out, &runs.allocator);
    sgi_report_summary summary;
    out.status = sgi_summary_make(&summary, &runs);
    if (out.status == SG_OK) {
        sgi_page page = {&out, &runs, &summary, NULL, running};
        write_sections(&page);
        sgi_page_release(&page);
    }
    status = out.status;
    if (status == SG_OK)
        status = write_page(folder, &out, diagnostic);
    else
        sgi_fail_file(diagnostic, status, folder, "out of memory");
    sgi_report_summary_release(&summary);
    sgi_text_release(&out);
    sgi_runs_release(&runs);
    return status;
}

sg_status sgi_report_write(const char *folder, const sg_allocator *allocator,
                           sg_diagnostic *diagnostic)
{
    return write_report(folder, false, allocator, diagnostic);
}

sg_status sgi_report_write_running(const char *folder, const sg_allocator *allocator,
                                   sg_diagnostic *diagnostic)
{
    return write_report(folder, true, allocator, diagnostic);
}
