/* Objects reduced to their metadata: PartialObjectMetadata and PartialObjectMetadataList of
 * meta.k8s.io, which a client asks for with `Accept:
 * application/json;as=PartialObjectMetadata;...`, and which the rows of a Table (sim/api/table.h)
 * carry.
 *
 * An object is given as a jansson value, as its JSON text, or as both. With the text its metadata
 * is copied and not printed again, which is many times faster; the text must then be the whole
 * object.
 *
 * The metadata are those of the object as it is stored, less one annotation: inside the real server
 * deprecated.daemonset.template.generation is a field, which becomes an annotation when a whole
 * DaemonSet is printed.
 *
 *     struct partial_list l;
 *     partial_list_begin(&l, "v1", &meta, out);
 *     partial_list_item(&l, NULL, text, out);
 *     partial_list_end(&l, out);
 * Each call appends to `out`, which may be emptied in between. */
#ifndef SIM_API_PARTIAL_H
#define SIM_API_PARTIAL_H

#include <stdbool.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "model/object.h"

/* The head of a list, as a value: {"resourceVersion":"1","continue":"...","remainingItemCount":2}.
 */
void list_meta_write(struct jsonw *w, const struct list_meta *meta);

/* kind and apiVersion of a type of meta.k8s.io, as members. */
void meta_type_write(struct jsonw *w, const char *kind, const char *version);

/* A value of any kind, as a value. */
void json_write(struct jsonw *w, const json_t *value);
/* The bytes of a top-level member's value in the text of an object; nothing when there is none, or
 * when the text is not the text of an object. */
struct view json_member(struct view text, const char *key);

/* The text of an object's metadata as it appears here. */
void partial_metadata(struct view meta, struct str *out);

/* {"kind":"PartialObjectMetadata",...}, as a value. `version` is that of meta.k8s.io: "v1" or
 * "v1beta1". */
void partial_write(struct jsonw *w, const char *version, const json_t *object, struct view text);

struct partial_list {
    struct jsonw w;
    const char *version;
    bool any;
};

void partial_list_begin(struct partial_list *l, const char *version, const struct list_meta *meta,
                        struct str *out);
void partial_list_item(struct partial_list *l, const json_t *object, struct view text,
                       struct str *out);
void partial_list_end(struct partial_list *l, struct str *out);

#endif
