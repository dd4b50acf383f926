/* The report: see report.h. Read everything, write the sections in reading order, write the file.
 */
#include "report/report.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"
#include "report/summary.h"

static sg_status write_page(const char *folder, const sg_text *out, char *message,
                            size_t message_size)
{
    char *path = sg_path_join(&out->allocator, folder, "report.html");
    if (!path)
        return sg_explain(SG_ERROR_MEMORY, message, message_size, "%s: out of memory", folder);
    sg_status status =
        sg_file_write(path, out->data, out->size, &out->allocator, message, message_size);
    sg_release(&out->allocator, path);
    return status;
}

static void write_sections(sg_page *page)
{
    sg_page_begin(page);
    if (page->runs->images) {
        sg_page_image_result(page);
        sg_page_image_curves(page);
        sg_page_inside(page);
    } else {
        sg_page_result(page);
        sg_page_curves(page);
        sg_page_solution(page);
    }
    sg_page_scaling(page);
    sg_page_table(page);
    sg_page_repeat(page);
    sg_page_end(page);
}

sg_status sg_report_write(const char *folder, const sg_allocator *allocator, char *message,
                          size_t message_size)
{
    sg_runs runs;
    sg_status status = sg_runs_read(&runs, folder, true, allocator, message, message_size);
    if (status != SG_OK)
        return status;
    sg_text out;
    sg_text_begin(&out, &runs.allocator);
    sg_report_summary summary;
    out.status = sg_summary_make(&summary, &runs);
    if (out.status == SG_OK) {
        sg_page page = {&out, &runs, &summary, NULL};
        write_sections(&page);
        sg_page_release(&page);
    }
    status = out.status;
    if (status == SG_OK)
        status = write_page(folder, &out, message, message_size);
    else
        sg_explain(status, message, message_size, "%s: out of memory", folder);
    sg_report_summary_release(&summary);
    sg_text_release(&out);
    sg_runs_release(&runs);
    return status;
}
