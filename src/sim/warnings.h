/* The Warning headers of an answer, as kube-apiserver sends them (apiserver's
 * pkg/endpoints/filters/warning.go): each text once, and all of them in 4096 characters. Where they
 * do not fit, each is cut to 256 characters, and what comes after the limit is left out. */
#ifndef SIM_WARNINGS_H
#define SIM_WARNINGS_H

#include "base/vec.h"

struct warnings {
    VEC(char *) headers; /* values: `299 - "unknown field \"x\""` */
};

#define _cleanup_warnings_ __attribute__((cleanup(warnings_done)))
void warnings_init(struct warnings *w, char *const *texts, size_t n);
void warnings_done(struct warnings *w);

#endif
