/* What the sections share, and the page's frame: see page.h. The style and the script are the only
 * fixed texts of any length. The page's content policy forbids it to load anything. */
#include "report/page.h"
#include "report/kind.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { STEPS_MOST = 1000000000 }; /* a run of more is one without a number of them */

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--soft:#5a636c;--rule:#e2e5e8;"
    "--wash:#f5f6f7;--mark:#8a929a;--s0:#c25a0e;--s1:#0b64ad;--s2:#1d8156;--s3:#8a48a6;"
    "--s4:#8f7600;--s5:#56616b;--s6:#b02a55;--s7:#087f87}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e8ea;"
    "--soft:#a0a8b0;--rule:#2c3238;--wash:#1c2024;--mark:#7d868e;--s0:#f2994a;--s1:#62b0f4;"
    "--s2:#5ecb95;--s3:#cb92e4;--s4:#dcc04a;--s5:#aab4be;--s6:#f2839f;--s7:#52c8ce}"
    ".own{--c:var(--d)!important}}\n"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif}"
    "main{max-width:1000px;margin:0 auto;padding:40px 20px 64px}"
    "header p{margin:0;color:var(--soft)}"
    "h1{font-size:30px;line-height:1.2;margin:2px 0 8px;font-weight:650;letter-spacing:-.01em}"
    "h2{font-size:20px;line-height:1.3;margin:52px 0 10px;padding-top:14px;"
    "border-top:1px solid var(--rule);font-weight:650}"
    "h3{font-size:15px;margin:26px 0 6px;font-weight:650}"
    "p{margin:0 0 12px;max-width:46em}"
    ".eyebrow{font-size:13px;letter-spacing:.04em;text-transform:uppercase}"
    ".lead{font-size:19px;line-height:1.5;margin:26px 0 14px}"
    ".n{white-space:nowrap}.soft,figcaption{color:var(--soft);font-size:14px}"
    ".bad,.told{border-left:3px solid var(--s6);padding-left:12px}.told{border-color:var(--mark)}"
    ".keys{display:flex;flex-wrap:wrap;gap:12px 44px;margin:22px 0 0}"
    ".keys div{min-width:120px}.keys dt{font-size:13px;color:var(--soft)}"
    ".keys dd{margin:0;font-size:26px;font-weight:600;line-height:1.25;"
    "font-variant-numeric:tabular-nums}"
    ".keys dd small{display:block;font-size:13px;font-weight:400;color:var(--soft)}"
    ".keys+.soft{margin-top:20px}\n"
    "figure{margin:0 0 16px;break-inside:avoid}"
    "figcaption{margin-top:6px;max-width:54em;line-height:1.45}"
    "figcaption.title{color:var(--ink);font-weight:600;margin:0 0 2px}"
    ".two,.three{display:grid;gap:8px 24px;"
    "grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}"
    ".three{grid-template-columns:repeat(auto-fill,minmax(min(100%,280px),1fr))}"
    ".two .chart,.three .chart{max-width:620px}"
    ".wide{overflow-x:auto}.wide svg{min-width:560px}"
    "svg{display:block;width:100%;height:auto;overflow:visible}"
    "svg text{font-size:11px;fill:var(--soft);font-variant-numeric:tabular-nums}"
    "svg .label,svg .name{fill:var(--ink);font-size:12px}svg .name{font-style:italic}"
    "svg .head{fill:var(--ink);font-size:12.5px;font-weight:600}"
    "svg .power{font-size:8.5px}svg .mid{text-anchor:middle}svg .end{text-anchor:end}"
    "svg .note{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    ".grid{stroke:var(--rule)}.axis,.tick{stroke:var(--mark)}"
    ".mark{stroke:var(--mark);stroke-dasharray:4 3}.frame{fill:none;stroke:var(--mark)}"
    ".line{fill:none;stroke:var(--c);stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}"
    ".line.dashed{stroke-dasharray:5 4;stroke-linecap:butt}"
    ".line.faint{stroke-width:5;opacity:.28}.band{fill:var(--c);opacity:.16}"
    ".s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}"
    ".s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}.ink{--c:var(--ink)}"
    ".own{--c:var(--l)}.legend .line{stroke-width:2}"
    ".legend .ramp .line{stroke-width:8;stroke-linecap:butt}"
    ".legend .ramp{width:140px;margin:0 8px}"
    ".legend{display:flex;flex-wrap:wrap;gap:2px "
    "18px;font-size:14px;max-width:none;margin-block:8px}"
    "figure .legend{font-size:13px;margin:0 0 2px;column-gap:12px}"
    ".legend span{white-space:nowrap}.legend{break-after:avoid}"
    ".legend svg{display:inline-block;width:22px;height:10px;margin-right:6px;"
    "vertical-align:middle}figure .legend "
    "svg{width:16px;margin-right:5px}.none{color:var(--soft);font-style:italic}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:15px;margin:8px 0 12px}"
    "th,td{text-align:right;padding:5px 0 5px 28px;border-bottom:1px solid var(--rule);"
    "font-variant-numeric:tabular-nums;white-space:nowrap;vertical-align:top}"
    "thead "
    "th{white-space:normal;vertical-align:bottom}th{font-weight:600}th:first-child,td:first-child{"
    "text-align:left;padding-left:0}"
    "table.facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}"
    "table.facts th{text-align:left;padding-left:0;font-weight:400;color:var(--soft)}"
    "table .best{font-weight:650}table small{color:var(--soft)}"
    "pre,code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',"
    "monospace}"
    "pre{background:var(--wash);border:1px solid var(--rule);border-radius:4px;padding:12px 14px;"
    "overflow-x:auto;margin:8px 0 14px}details{margin:8px 0}summary{cursor:pointer}"
    "nav{display:flex;flex-wrap:wrap;gap:2px 20px;margin:14px 0 0;font-size:14px}"
    "a{color:var(--s1)}nav a{text-decoration:none}nav a:hover{text-decoration:underline}"
    "math{font-size:17px}table.statement td{padding-top:7px;padding-bottom:7px;line-height:1.9;"
    "overflow-wrap:normal}table.statement th{vertical-align:middle;white-space:nowrap}\n"
    ".tabs>input{position:absolute;opacity:0}.tabs>label{display:inline-block;padding:2px 12px;"
    "margin:0 4px 10px 0;border-bottom:2px solid var(--rule);cursor:pointer}"
    ".tabs>input:checked+label{border-color:var(--s1);font-weight:600}"
    ".tabs>input:focus-visible+label{outline:2px solid var(--s1)}.tabs>div{display:none}"
    ".tabs>input:nth-of-type(1):checked~div:nth-of-type(1),.tabs>input:nth-of-type(2):checked~d"
    "iv:nth-of-type(2),.tabs>input:nth-of-type(3):checked~div:nth-of-type(3),.tabs>input:nth-of"
    "-type(4):checked~div:nth-of-type(4),.tabs>input:nth-of-type(5):checked~div:nth-of-type(5),"
    ".tabs>input:nth-of-type(6):checked~div:nth-of-type(6),.tabs>input:nth-of-type(7):checked~d"
    "iv:nth-of-type(7),.tabs>input:nth-of-type(8):checked~div:nth-of-type(8)"
    "{display:block}\n"
    ".slider{margin:0 0 22px}.slider label,.slider output{font-size:14px}"
    ".slider input{width:min(60vw,420px);vertical-align:middle}"
    "@media print{.slider{display:none}}\n"
    "footer{margin-top:48px;color:var(--soft);font-size:13px}"
    "#tip{position:fixed;display:none;pointer-events:none;background:var(--paper);"
    "border:1px solid var(--mark);border-radius:4px;padding:4px 9px;font-size:12px;line-height:1.5;"
    "white-space:pre;font-variant-numeric:tabular-nums;z-index:1}\n"
    "@media print{.tabs>div{display:block!important}.tabs>label,nav{display:none}@page{margin:16mm "
    "14mm}body{font-size:10.5pt}main{max-width:none;padding:0}"
    "h2{margin-top:26px;break-after:avoid}h3{break-after:avoid}.lead{font-size:12.5pt}"
    "h1{font-size:20pt}.two{grid-template-columns:1fr 1fr}"
    ".three{grid-template-columns:1fr 1fr 1fr}.wide,.scroll{overflow:visible}"
    "pre{white-space:pre-wrap}table{font-size:9.5pt}th,td{padding-left:14px}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

/* Reads out the lines under the pointer, and opens the problem file for printing. Reading the page
 * does not need it. */
static const char script[] =
    "(function(){var tip=document.getElementById('tip');"
    "addEventListener('beforeprint',function(){document.querySelectorAll('details')"
    ".forEach(function(d){d.open=true})});"
    "function show(v){var a=Math.abs(v);return (v===0?'0':a>=.01&&a<1e6?String(+v.toPrecision(4)):"
    "v.toExponential(2)).replace(/-/g,'\\u2212')}"
    "document.querySelectorAll('.slider').forEach(function(s){"
    "var input=s.querySelector('input'),frames=s.querySelectorAll('[data-at]'),"
    "out=s.querySelector('output');s.hidden=false;"
    "function turn(){frames.forEach(function(f,i){f.hidden=i!=input.value});"
    "var at=frames[input.value].dataset.at;out.textContent='= '+at.replace(/-/g,'\\u2212');"
    "input.setAttribute('aria-valuetext',at)}input.addEventListener('input',turn);turn()});"
    "document.querySelectorAll('svg[data-x]').forEach(function(svg){"
    "var x=svg.dataset.x.split(' ').map(Number),y=svg.dataset.y.split(' ').map(Number),"
    "lines=[].map.call(svg.querySelectorAll('path.line'),function(p){"
    "return{label:p.dataset.label,at:(p.getAttribute('d').match(/[ML][\\d.]+ [\\d.]+/g)||[])"
    ".map(function(s){return s.slice(1).split(' ').map(Number)})}});"
    "function value(p){var s=(p-y[2])/(y[3]-y[2]);"
    "return y[4]?y[0]*Math.pow(y[1]/y[0],s):y[0]+s*(y[1]-y[0])}"
    "svg.addEventListener('pointermove',function(e){var r=svg.getBoundingClientRect(),"
    "px=(e.clientX-r.left)/r.width*svg.viewBox.baseVal.width;"
    "if(px<x[2]||px>x[3]){tip.style.display='none';return}"
    "var at=(px-x[2])/(x[3]-x[2]);at=x[4]?x[0]*Math.pow(x[1]/x[0],at):x[0]+at*(x[1]-x[0]);"
    "var text=svg.dataset.name+' '+show(+at.toPrecision(3));"
    "lines.forEach(function(l){var best=null;l.at.forEach(function(p){"
    "if(!best||Math.abs(p[0]-px)<Math.abs(best[0]-px))best=p});"
    "var n=l.at.length;if(n&&px>l.at[0][0]-20&&px<l.at[n-1][0]+20)"
    "text+='\\n'+l.label+'  '+show(value(best[1]))});"
    "tip.textContent=text;tip.style.display='block';"
    "tip.style.left=Math.min(e.clientX+14,innerWidth-tip.offsetWidth-8)+'px';"
    "tip.style.top=Math.min(e.clientY+14,innerHeight-tip.offsetHeight-8)+'px'});"
    "svg.addEventListener('pointerleave',function(){tip.style.display='none'})})})()";

/* Keeps place, tabs and sliders over a reload. A page that is not looked at waits. */
static const char reload[] =
    "(function(){var key='stablegrad '+location.pathname,all=document.querySelectorAll("
    "'.tabs>input,.slider input');try{var s=JSON.parse(sessionStorage.getItem(key)||'null');"
    "if(s){s.inputs.forEach(function(v,i){var e=all[i];if(!e)return;if(e.type==='radio')"
    "e.checked=v;else{e.value=v;e.dispatchEvent(new Event('input'))}});scrollTo(0,s.top);"
    "if(s.focus>=0&&all[s.focus])all[s.focus].focus({preventScroll:true})}}catch(e){}"
    "setInterval(function(){if(document.hidden)return;try{sessionStorage.setItem(key,"
    "JSON.stringify({top:scrollY,focus:[].indexOf.call(all,document.activeElement),"
    "inputs:[].map.call(all,function(e){return e.type==='radio'?e.checked:e.value})}))}catch(e){}"
    "location.reload()},5000)})()";

/* A piece of scratch memory; the caller's part starts one alignment later. */
typedef struct piece {
    void *before;
} piece;

void *sgi_page_memory(sgi_page *page, size_t count, size_t size)
{
    piece *p = NULL;
    size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes < (size_t)-1 - SG_ALIGNMENT)
        p = sgi_allocate(&page->out->allocator, bytes + SG_ALIGNMENT, 1);
    if (!p) {
        page->out->status = SG_ERROR_MEMORY;
        return NULL;
    }
    p->before = page->scratch;
    page->scratch = p;
    return (char *)p + SG_ALIGNMENT;
}

void sgi_page_release(sgi_page *page)
{
    while (page->scratch) {
        piece *p = page->scratch;
        page->scratch = p->before;
        sgi_release(&page->out->allocator, p);
    }
}

const sgi_run *sgi_page_run(const sgi_page *page, size_t v)
{
    const sgi_variant *variant = &page->runs->variants[v];
    return variant->count ? &page->runs->runs[variant->first] : NULL;
}

static void add_fact(sgi_text *out, const char *text, const char *after, bool *any)
{
    if (!text[0])
        return;
    sgi_text_add(out, *any ? " · " : "");
    sgi_text_escape(out, text);
    sgi_text_add(out, after);
    *any = true;
}

static void add_count(sgi_text *out, double count, const char *after, bool *any)
{
    if (!isfinite(count))
        return;
    sgi_text_add(out, *any ? " · " : "");
    sgi_text_count(out, count);
    sgi_text_add(out, after);
    *any = true;
}

void sgi_page_frame(sgi_text *out, const char *title, const char *what, bool running)
{
    sgi_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<link rel=\"icon\" href=\"data:,\">\n<title>");
    sgi_text_escape(out, title);
    sgi_text_add(out, " – StableGrad</title>\n<style>");
    sgi_text_add(out, style);
    if (running) /* the script does it better where there is one */
        sgi_text_add(out, "</style>\n<noscript><meta http-equiv=\"refresh\" content=\"10\">"
                          "</noscript>\n<style>");
    sgi_text_add(out,
                 "</style>\n</head>\n<body>\n<main>\n<header>\n<p class=\"eyebrow\">StableGrad ");
    sgi_text_add(out, what);
    sgi_text_add(out, "</p>\n<h1>");
    sgi_text_escape(out, title);
    sgi_text_add(out, "</h1>\n<p>");
}

void sgi_page_begin(sgi_page *page)
{
    sgi_text *out = page->out;
    const sgi_run *run = &page->runs->runs[0];
    const char *title = sgi_run_text(run, NULL, "title");
    if (!title[0])
        title = page->runs->name;
    sgi_page_frame(out, title, page->runs->comparison ? "comparison" : "run", page->running);
    bool any = false;
    const sgi_report_kind *kind = page->summary->kind;
    const char *network = page->runs->comparison ? kind->compared_network : "network";
    add_fact(out, sgi_run_text(run, NULL, network), "", &any);
    add_count(out, sgi_run_number(run, NULL, "parameters"), " parameters", &any);
    for (size_t f = 0; f < kind->fact_count; f++)
        add_count(out, sgi_run_number(run, kind->facts[f].group, kind->facts[f].key),
                  kind->facts[f].after, &any);
    add_fact(out, sgi_run_text(run, NULL, "channels"), "", &any);
    sgi_text_add(out, "</p>\n");
    if (page->running) {
        sgi_text_add(out, "<p role=\"status\">The run goes on, and this page follows it: step ");
        sgi_text_count(out, sgi_run_number(run, NULL, "steps_done"));
        double steps = sgi_run_number(run, NULL, "steps");
        if (steps < STEPS_MOST) { /* else time ends it */
            sgi_text_add(out, " of ");
            sgi_text_count(out, steps);
        }
        sgi_text_add(out, ".</p>\n");
    }
    sgi_text_add(out, "</header>\n");
}

void sgi_page_contents(sgi_text *out, const sgi_text *body)
{
    static const char mark[] = "<section id=\"", heading[] = "\">\n<h2>";
    sgi_text_add(out, "<nav aria-label=\"Contents\">");
    for (const char *at = body->data; at && (at = strstr(at, mark));) {
        const char *id = at + sizeof mark - 1, *quote = strchr(id, '"');
        at = id;
        if (!quote || strncmp(quote, heading, sizeof heading - 1) != 0)
            continue;
        const char *title = quote + sizeof heading - 1, *end = strstr(title, "</h2>");
        if (!end)
            continue;
        sgi_text_add(out, "<a href=\"#");
        sgi_text_bytes(out, id, (size_t)(quote - id));
        sgi_text_add(out, "\">");
        sgi_text_bytes(out, title, (size_t)(end - title));
        sgi_text_add(out, "</a> ");
    }
    sgi_text_add(out, "</nav>\n");
}

void sgi_page_end(sgi_text *out, bool running)
{
    sgi_text_add(out, "<footer>Written by StableGrad. This file is complete in itself: it "
                      "loads nothing.</footer>\n</main>\n<div id=\"tip\"></div>\n<script>");
    sgi_text_add(out, script);
    if (running) {
        sgi_text_add(out, "</script>\n<script>");
        sgi_text_add(out, reload);
    }
    sgi_text_add(out, "</script>\n</body>\n</html>\n");
}
