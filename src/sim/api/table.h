/* Server-side printing: the Table of meta.k8s.io that `kubectl get` asks for with
 * `Accept: application/json;as=Table;v=v1;g=meta.k8s.io`. Columns and cells are those of Kubernetes
 * 1.36.3 (pkg/printers/internalversion/printers.go; for custom resources the table convertor of
 * apiextensions-apiserver); only the descriptions of built-in columns are left empty.
 *
 * Pure: an object and the time in, JSON out. Objects are expected in the form in which they are
 * stored, with defaults and canonical quantities; whatever else they hold is printed as if it were
 * absent, never refused.
 *
 * A list:
 *     struct api_table t;
 *     api_table_begin(&t, api_table_find("", "Pod"), &options, &meta, out);
 *     for each object: api_table_row(&t, value, text, out);
 *     api_table_end(&t, out);
 * One object, and each event of a watch (whose first one alone has headers):
 *     api_table_object(kind, &options, value, text, out);
 *     options.no_headers = true;
 * Each call appends to `out`, which may be emptied in between. No newline is written. */
#ifndef SIM_API_TABLE_H
#define SIM_API_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "sim/api/partial.h"

/* The columns of a kind. */
struct api_table_kind;

/* What each row says of its object: ?includeObject=. */
enum api_table_include {
    API_TABLE_METADATA, /* a PartialObjectMetadata: the default */
    API_TABLE_NONE,
    API_TABLE_OBJECT,
};

struct api_table_options {
    const char *version; /* of meta.k8s.io: "v1" or "v1beta1" */
    enum api_table_include include;
    bool no_headers;
    int64_t now; /* microseconds since 1970 */
};

/* "Metadata", "Object", "None" or "" (NULL too); else -EINVAL with the text of the server's 400. */
int api_table_include_parse(const char *text, enum api_table_include *out, struct err *err);

/* The columns of a built-in kind, without its version; NULL when there are none. Scale (of group
 * autoscaling) is among them. */
const struct api_table_kind *api_table_find(const char *group, const char *kind);

/* How the paths of custom columns are followed. */
struct api_table_paths {
    /* NULL when `path` (".spec.size") is no path. */
    void *(*compile)(const char *path);
    /* The first value that the path leads to, or NULL; part of `object`. */
    const json_t *(*find)(const void *compiled, const json_t *object);
    void (*free)(void *compiled);
};

/* The columns of a version of a custom resource: `columns` is the additionalPrinterColumns of its
 * definition, NULL or empty for none (the age then). A column whose path is none, and those after
 * it, are left out, as the server does. The result belongs to the caller. */
struct api_table_kind *api_table_custom(const json_t *columns, const struct api_table_paths *paths);
/* The columns of the scale subresource of a custom resource. */
struct api_table_kind *api_table_custom_scale(const struct api_table_paths *paths);
void api_table_kind_free(struct api_table_kind *kind);

struct api_row;
struct api_table {
    struct jsonw w;
    const struct api_table_kind *kind;
    struct api_table_options options;
    struct api_row *row; /* scratch of the rows */
    bool any;
};

/* `kind` and the options' strings must outlive the table. */
void api_table_begin(struct api_table *t, const struct api_table_kind *kind,
                     const struct api_table_options *options, const struct list_meta *meta,
                     struct str *out);
/* An object as a value, as its JSON text, or as both. Without the value the text is parsed; with
 * the text, what the row carries of the object is copied from it and not printed again. */
void api_table_row(struct api_table *t, const json_t *object, struct view text, struct str *out);
/* Ends the document and gives back what the table holds. */
void api_table_end(struct api_table *t, struct str *out);
/* Gives back what a table holds that is not going to be ended. */
void api_table_drop(struct api_table *t);

/* A table of one row with the object's own resourceVersion. */
void api_table_object(const struct api_table_kind *kind, const struct api_table_options *options,
                      const json_t *object, struct view text, struct str *out);

#endif
