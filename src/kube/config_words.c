/* kubectl's sentences about a configuration. */
#include "kube/config_words.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define SEPARATOR "; "

/* validateAuthInfo(), validateClusterInfo() and DefaultServerURL() of client-go. */
static const struct {
    const char *begin;
    const char *more; /* of a sentence that has a separator in it: what comes after that */
} sentences[] = {
    {"unable to read certificate-authority ", NULL},
    {"unable to read client-cert ", NULL},
    {"unable to read client-key ", NULL},
    {"client-key-data or client-key must be specified for ", NULL},
    {"requesting uid, groups or user-extra for ", NULL},
    {"more than one authentication method found for ", "found ["},
    {"host must be a URL or a host:port pair: ", NULL},
};

int kube_words_first(struct err *err, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *words = xvasprintf(fmt, ap);
    va_end(ap);
    return err ? err_set(err, err->code, "%s" SEPARATOR "%s", words, err_msg(err)) : -EIO;
}

void kube_words_unreadable(struct str *out, const char *what, const char *file, const char *whose,
                           int code) {
    const char *why = strerror(code);
    /* Go has the same texts without the capital. */
    str_addf(out, "%sunable to read %s %s for %s due to open %s: %c%s", out->len ? SEPARATOR : "",
             what, file, strna(whose), file, tolower((unsigned char)*why), why + 1);
}

/* Where the sentence ends. */
static const char *end_of(const char *text, const char *more) {
    const char *end = strstr(text, SEPARATOR);
    if (end && more && str_starts(end + strlen(SEPARATOR), more))
        end = strstr(end + strlen(SEPARATOR), SEPARATOR);
    return end;
}

size_t kube_words_take(const char *message, const char **next) {
    for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
        if (!str_starts(message, sentences[i].begin))
            continue;
        const char *end = end_of(message, sentences[i].more);
        *next = end ? end + strlen(SEPARATOR) : "";
        return end ? (size_t)(end - message) : strlen(message);
    }
    *next = message;
    return 0;
}
