/* A plan in words and as a document. Pure. */
#ifndef CLI_PLAN_TEXT_H
#define CLI_PLAN_TEXT_H

#include <jansson.h>

#include "base/str.h"
#include "cli/drain_line.h"
#include "engine/plan.h"

/* The name of the document that -o json and --out make (docs/plan.md). */
#define PLAN_SCHEMA "slipway.plan/1.1"

struct plan_shown {
    const struct plan *plan;
    const char *cluster; /* the server */
    char *const *flags;  /* of the drain that it is a plan of */
    size_t n_flags;
    const char *const *unread; /* resources that could not be listed */
    size_t n_unread;
    const char *rules; /* the file of rules as a hash, or "" */
    const char *saved; /* where; NULL: nowhere */
    bool wide;         /* in words: with each pod that shall go */
    bool asked;        /* the API server was asked about each eviction */
    int64_t now;       /* wall clock */
};

/* For people: the nodes in order, what is in the way, how long it takes. Lines are not cut.
 * A screen without rows is no terminal: the pods have columns there, however wide. */
void plan_text(const struct plan_shown *shown, const struct screen *s, struct str *out);
/* As JSON, indented. */
void plan_document(const struct plan_shown *shown, struct str *out);
/* Sixteen hexadecimal digits for what is in the document but for the member "digest", which has
 * them. */
void plan_digest(const json_t *document, char out[static 17]);
/* The same for a text. */
void plan_hash(const char *text, size_t len, char out[static 17]);
/* Sixteen hexadecimal digits: the same as long as nothing has changed that the plan rests on. */
void plan_id(const struct plan_shown *shown, char out[static 17]);

#endif
