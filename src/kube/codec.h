/* Decodes one Kubernetes object from contiguous bytes, JSON or protobuf, through the table of its
 * type.
 *
 * Both decoders are total: any bytes give either a complete struct or an error and a struct that
 * holds nothing. Fields that the table does not name are skipped (managedFields is the largest of
 * them). Strings that are not UTF-8 or contain NUL bytes come out with U+FFFD in those places, from
 * either format.
 *
 * kube/stream.h cuts objects out of responses as they arrive; this is what it calls for each of
 * them. */
#ifndef KUBE_CODEC_H
#define KUBE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/type.h"

enum kube_format { KUBE_JSON, KUBE_PROTOBUF };

enum {
    CODEC_DEPTH = 40, /* nesting of what is decoded; Kubernetes' own objects stay below 20 */
    /* Bytes that the lists of one object may take: an empty element is two bytes on the wire and a
     * hundred in memory. etcd refuses objects past 1.5 MiB. */
    CODEC_ROOM = 32 << 20,
};

/* Holds the scratch memory that is reused from object to object. */
struct codec {
    struct pool *pool;
    struct arena scratch;
    struct str text;
    size_t room;      /* what is left of CODEC_ROOM */
    struct str where; /* after codec_json() has failed: in which field, "spec.taints.key"; or "" */
};

void codec_init(struct codec *c, struct pool *pool);
void codec_done(struct codec *c);

/* Decodes into `obj`, a zeroed struct of this type. JSON: the text of one object. Protobuf: the
 * message itself, without the envelope of kube/stream.h. */
int codec_json(struct codec *c, const struct type *type, struct view text, void *obj,
               struct err *err);
int codec_pb(struct codec *c, const struct type *type, struct view message, void *obj,
             struct err *err);

/* Decodes one member of the JSON object anew, in an object that is complete but for that: `text` is
 * the member's value. One that the table does not name is not looked at. -ENOENT when it is no
 * embedded message and cannot be taken alone: then nothing has changed. After any other error the
 * object holds nothing. */
int codec_json_member(struct codec *c, const struct type *type, struct view key, struct view text,
                      void *obj, struct err *err);

/* The raw text of some members of a JSON object, {NULL, 0} for those it lacks. Reads no further
 * than it must: what follows the last member found is not checked. */
int codec_json_find(struct codec *c, struct view text, const struct view *keys, size_t n,
                    struct view *values, struct err *err);

/* The next element of a JSON list: takes it off `list`, which is the text of the list at first.
 * False at its end, and at anything that is no JSON. */
bool codec_json_next(struct codec *c, struct view *list, struct view *item);

/* --- shared by the two decoders --- */

/* Seconds: years 1 to 9999, all that RFC 3339 can write. */
#define CODEC_TIME_MIN INT64_C(-62135596800)
#define CODEC_TIME_MAX INT64_C(253402300799)

/* A growing array in the scratch arena, for a list that is being read. */
struct codec_list {
    char *items;
    size_t n, cap, size;
};
/* NULL when the object has used up its CODEC_ROOM. */
void *codec_list_add(struct codec *c, struct codec_list *list);
/* Takes back the element that was added last; it holds no references any more. */
void codec_list_pop(struct codec_list *list);

/* A string from the wire as a pool entry (a new reference; NULL when empty). */
const char *codec_str(struct codec *c, struct view text);
/* Replaces a member that is a pool entry. */
void codec_set(struct codec *c, void *member, const void *entry);
/* Turns a list or map that was read into its pool entry, and sorts maps: of equal keys the last one
 * read wins. `type` is the element type or one of type_pair, type_pair_qty, type_pair_time,
 * type_strs. */
const void *codec_finish(struct codec *c, const struct type *type, struct codec_list *list);
/* Gives back what the elements of an unfinished list refer to. */
void codec_abandon(struct codec *c, const struct type *type, struct codec_list *list);

#endif
