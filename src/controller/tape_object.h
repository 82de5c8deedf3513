/* Objects in a recording: what is decided by, without what is nobody's business. */
#ifndef CONTROLLER_TAPE_OBJECT_H
#define CONTROLLER_TAPE_OBJECT_H

#include "base/err.h"
#include "base/jsonw.h"
#include "engine/action.h"
#include "kube/codec.h"

/* As object_print(), without machine ids, addresses, what Maintenances run or call, and annotations
 * that nothing is decided by. */
void tape_object_print(const struct kind *kind, struct pool *pool, struct jsonw *w,
                       const struct object *obj);
/* The body of an action in the same way; free() it. NULL where there is none. */
char *tape_body(const struct action *a);
/* -EINVAL when it is no such object, or has no name. */
int tape_object_read(struct codec *codec, const struct kind *kind, struct view text,
                     struct object **out, struct err *err);
/* By the name of its resource; NULL: objects of that kind are in no recording. */
const struct kind *tape_kind(const char *resource);

#endif
