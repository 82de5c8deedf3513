/* A token bucket. */
#include "engine/tokens.h"

#include "base/mem.h"
#include "base/timefmt.h"

bool tokens_take(struct tokens *t, int64_t now, int64_t *next) {
    if (t->rate <= 0)
        return true;
    double full = MAX_OF(t->rate, 1.0);
    double come = (double)(now - t->at) / USEC_PER_SEC * t->rate;
    t->left = t->begun ? MIN_OF(t->left + come, full) : full;
    t->begun = true;
    t->at = now;
    if (t->left < 1) {
        *next = now + (int64_t)((1 - t->left) / t->rate * USEC_PER_SEC) + 1;
        return false;
    }
    t->left -= 1;
    return true;
}
