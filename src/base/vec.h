/* A growing array of any type, as a macro: `VEC(struct pod *) pods = VEC_INIT; *vec_push(&pods) =
 * p;`. Indexes with v.p[i], i < v.len. vec_done() frees the array, never what it points to. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#include "base/mem.h"

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *p;                                                                                   \
        size_t len, cap;                                                                           \
    }

#define VEC_INIT                                                                                   \
    { NULL, 0, 0 }

/* A pointer to a new, uninitialised last element. */
#define vec_push(v)                                                                                \
    ({                                                                                             \
        __typeof__(v) v_ = (v);                                                                    \
        if (v_->len == v_->cap) {                                                                  \
            v_->cap = v_->cap ? v_->cap * 2 : 8;                                                   \
            v_->p = xrealloc(v_->p, v_->cap, sizeof *v_->p);                                       \
        }                                                                                          \
        &v_->p[v_->len++];                                                                         \
    })

/* Room for so many more, so that they are not moved while they are added. */
#define vec_reserve(v, n)                                                                          \
    do {                                                                                           \
        __typeof__(v) v_ = (v);                                                                    \
        size_t want_ = v_->len + (n);                                                              \
        if (v_->cap < want_) {                                                                     \
            v_->cap = want_;                                                                       \
            v_->p = xrealloc(v_->p, v_->cap, sizeof *v_->p);                                       \
        }                                                                                          \
    } while (0)

#define vec_done(v)                                                                                \
    do {                                                                                           \
        __typeof__(v) v_ = (v);                                                                    \
        free(v_->p);                                                                               \
        v_->p = NULL;                                                                              \
        v_->len = v_->cap = 0;                                                                     \
    } while (0)

#endif
