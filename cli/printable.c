/* Text for a terminal: see printable.h. */
#include "printable.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the control character at `at`: one below U+0020, DEL, or U+0080 to U+009F, which is two
 * bytes in UTF-8; 0 when it is another character. */
static size_t control_at(const char *at)
{
    unsigned char first = (unsigned char)at[0], second = first ? (unsigned char)at[1] : 0;
    if (first < ' ' || first == 127)
        return 1;
    return first == 0xC2 && second >= 0x80 && second < 0xA0 ? 2 : 0;
}

const char *printable(const char *text, char *shown, size_t size)
{
    size_t used = 0;
    while (*text && used + 9 < size) {
        size_t control = control_at(text);
        for (size_t i = 0; i < control; i++)
            used += (size_t)snprintf(shown + used, size - used, "\\x%02x", (unsigned char)text[i]);
        if (control == 0)
            shown[used++] = *text;
        text += control ? control : 1;
    }
    shown[used] = '\0';
    return shown;
}

void put_message(const char *text, FILE *to)
{
    while (*text) {
        size_t control = *text == '\n' || *text == '\t' ? 0 : control_at(text);
        for (size_t i = 0; i < control; i++)
            fprintf(to, "\\x%02x", (unsigned char)text[i]);
        if (control == 0)
            fputc(*text, to);
        text += control ? control : 1;
    }
}
