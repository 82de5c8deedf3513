/* Records of slots as they may stand in an object that anybody can edit: what is read is written in
 * a form that reads and writes the same, each node holds one slot and waits once at most, and
 * nothing that is not granted may go. */
#include "engine/slots.h"

#include "fuzz.h"

static void check_order(const struct slots *s) {
    for (size_t i = 0; i < s->list.len; i++) {
        const struct slot *one = &s->list.p[i];
        FUZZ_CHECK(!i || strcmp(s->list.p[i - 1].node, one->node) < 0);
        FUZZ_CHECK(slots_holder(s, one->node) == one);
        FUZZ_CHECK(slots_may_go(s, one->node, one->uid, one->boot) == (one->state == SLOT_GRANTED));
    }
    for (size_t i = 0; i < s->waiting.len; i++) {
        FUZZ_CHECK(!i || strcmp(s->waiting.p[i - 1].node, s->waiting.p[i].node) < 0);
        FUZZ_CHECK(slots_waits(s, s->waiting.p[i].node) == &s->waiting.p[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = ARENA_INIT;
    struct slots s, again;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    int rc = slots_parse((struct view){(const char *)data, size}, &arena, &s, &err);
    FUZZ_CHECK(!rc || (err.code == -rc && !s.list.len && !s.waiting.len));
    if (!rc) {
        check_order(&s);
        slots_write(&s, &first);
        FUZZ_CHECK(!slots_parse((struct view){str_get(&first), first.len}, &arena, &again, &err));
        slots_write(&again, &second);
        FUZZ_CHECK(streq(str_get(&first), str_get(&second)));
        slots_done(&again);
    }
    slots_done(&s);
    arena_done(&arena);
    return 0;
}
