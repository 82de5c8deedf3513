/* kubectl's sentences about a configuration that it does not take. An error of kube/config.h begins
 * with them where there are some, each followed by "; " if more comes; ours, which says where it
 * stands, is the last. Whoever speaks to people that know kubectl takes them apart again. */
#ifndef KUBE_CONFIG_WORDS_H
#define KUBE_CONFIG_WORDS_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* Puts a sentence of kubectl's in front of the message; returns -err->code. */
int kube_words_first(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends "unable to read client-cert FILE for USER due to open FILE: no such file or directory",
 * after "; " if there is something. `whose` may be NULL; `code` is an errno. */
void kube_words_unreadable(struct str *out, const char *what, const char *file, const char *whose,
                           int code);

/* The length of kubectl's sentence that the message begins with, 0 when it does not. `*next` is
 * what comes after it and its "; ", maybe "". */
size_t kube_words_take(const char *message, const char **next);

#endif
