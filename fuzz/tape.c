/* Recordings of a controller, as somebody sends them: whatever is in the file, it is played or
 * refused. */
#include "controller/replay.h"

#include "fuzz.h"

static void on_out(void *arg, const struct tape_line *line, struct now now, size_t at) {
    (void)now, (void)at;
    FUZZ_CHECK(line->out);
    ++*(size_t *)arg;
}

static void on_differs(void *arg, const char *then, const char *now, size_t at) {
    (void)arg, (void)at;
    FUZZ_CHECK(then || now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct replay *r = NULL;
    _cleanup_err_ struct err err = ERR_INIT;
    size_t outs = 0;
    struct replay_opts opts = {.out = on_out, .differs = on_differs, .arg = &outs};
    int rc = replay_new((struct view){(const char *)data, size}, &opts, &r, &err);
    FUZZ_CHECK(!rc || (err.code == -rc && !r));
    while (r && replay_next(r, &err) == 1)
        ;
    replay_free(r);
    return 0;
}
