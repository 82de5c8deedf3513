/* Requests to the simulated API, one after the other in one world: whatever they say, each is
 * answered with a code that HTTP has and a body that is what its type says, errors with a Status
 * that agrees with the code; everything that is stored can be listed and watched; the same requests
 * in another world of the same seed get the same answers to the byte; and nothing is left behind.
 *
 * An input is a script. Its first line is "fleet" for a world in which things happen by themselves
 * ("bare" else). Then come requests, separated by lines with "%%": a line with method, target,
 * content type and what is accepted (both may be words of `types`, "-" is none), then the body.
 * Lines in the place of a method that are none: "PASS 30" lets seconds go by, "PULL" reads what the
 * open watches have, "CLOSE" hangs up the oldest, "COMPACT" forgets the history. */
#include <jansson.h>

#include "base/json.h"
#include "base/timefmt.h"
#include "base/vec.h"
#include "fuzz.h"
#include "sim/sim.h"
#include "sim/world.h"

enum {
    INPUT_MAX = 64 << 10,
    STEPS = 48,    /* of a script */
    WATCHES = 16,  /* open at once */
    PASS_MAX = 90, /* seconds that one step can let go by */
};

static const struct {
    const char *word, *type;
} types[] = {
    {"-", NULL},
    {"json", "application/json"},
    {"yaml", "application/yaml"},
    {"pb", "application/vnd.kubernetes.protobuf"},
    {"jsonpatch", "application/json-patch+json"},
    {"merge", "application/merge-patch+json"},
    {"strategic", "application/strategic-merge-patch+json"},
    {"apply", "application/apply-patch+yaml"},
    {"table", "application/json;as=Table;v=v1;g=meta.k8s.io"},
    {"partial", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
    {"partials", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
    {"discovery", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"},
    {"watch", "application/vnd.kubernetes.protobuf;stream=watch"},
};

struct world_run {
    struct sim *sim;
    VEC(struct api_reply) watches;
    struct str log; /* all that was answered */
};

static const char *type_of(const char *word) {
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (streq(word, types[i].word))
            return types[i].type;
    return word;
}

/* --- answers --- */

/* A text of JSON values, each on a line of its own: a whole answer, or events. */
static void check_json(const char *p, size_t len, int code) {
    _cleanup_json_ json_t *v = json_loadb(p, len, JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_object(v));
    const char *kind = json_str(v, "kind");
    if (kind && streq(kind, "Status") && json_object_get(v, "code")) {
        FUZZ_CHECK(json_integer_value(json_object_get(v, "code")) == code);
        FUZZ_CHECK(streq(strna(json_str(v, "status")), code < 300 ? "Success" : "Failure"));
        FUZZ_CHECK(code < 300 || json_is_string(json_object_get(v, "message")));
    } else {
        FUZZ_CHECK(code < 300 || code == 304);
    }
}

static void check_events(const char *p, size_t len) {
    while (len) {
        const char *end = memchr(p, '\n', len);
        FUZZ_CHECK(end); /* events are whole */
        _cleanup_json_ json_t *v = json_loadb(p, (size_t)(end - p), JSON_ALLOW_NUL, NULL);
        FUZZ_CHECK(json_is_string(json_object_get(v, "type")));
        FUZZ_CHECK(json_is_object(json_object_get(v, "object")));
        len -= (size_t)(end + 1 - p);
        p = end + 1;
    }
}

/* Pulls all that is there now; false when the stream has ended. */
static bool pull(struct world_run *run, struct api_reply *r, bool watch) {
    enum api_pull state;
    do {
        size_t before = r->body.len;
        state = api_stream_pull(r->stream, &r->body);
        FUZZ_CHECK(state != API_MORE || r->body.len > before);
    } while (state == API_MORE);
    if (watch) {
        if (streq(r->content_type, "application/json"))
            check_events(str_get(&r->body), r->body.len);
        str_addn(&run->log, str_get(&r->body), r->body.len);
        str_reset(&r->body);
    }
    return state != API_END;
}

static void answered(struct world_run *run, struct api_reply *r) {
    FUZZ_CHECK(r->code >= 200 && r->code < 600 && (r->content_type || r->code == 304));
    str_addf(&run->log, "%d %s %d %s\n", r->code, strna(r->content_type), r->retry_after, r->etag);
    for (size_t i = 0; i < r->warnings.len; i++)
        str_addf(&run->log, "%s\n", r->warnings.p[i]);
    bool watch = r->stream && !r->body.len; /* a list has begun already */
    if (r->stream && pull(run, r, watch)) {
        FUZZ_CHECK(watch);
        if (run->watches.len < WATCHES) {
            *vec_push(&run->watches) = *r;
            return;
        }
    }
    if (!watch && r->body.len && r->content_type && streq(r->content_type, "application/json"))
        check_json(str_get(&r->body), r->body.len, r->code);
    str_addn(&run->log, str_get(&r->body), r->body.len);
    api_reply_done(r);
}

static void ask(struct world_run *run, const struct api_request *req) {
    struct api_reply reply;
    api_serve(sim_api(run->sim), req, &reply);
    answered(run, &reply);
}

/* --- the script --- */

/* The next word of a line, "-" at its end. */
static const char *word(char **line) {
    const char *w = strsep(line, " ");
    return w && *w ? w : "-";
}

static bool direct(struct world_run *run, const char *what, const char *arg) {
    struct clock *clock = &sim_world(run->sim)->clock;
    if (streq(what, "PASS")) {
        long seconds = strtol(arg, NULL, 10);
        seconds = seconds < 0 ? 0 : seconds > PASS_MAX ? PASS_MAX : seconds;
        clock_run(clock, clock->now + SEC(seconds));
    } else if (streq(what, "PULL")) {
        size_t n = 0;
        for (size_t i = 0; i < run->watches.len; i++)
            if (pull(run, &run->watches.p[i], true))
                run->watches.p[n++] = run->watches.p[i];
            else
                api_reply_done(&run->watches.p[i]);
        run->watches.len = n;
    } else if (streq(what, "CLOSE")) {
        if (run->watches.len) {
            api_reply_done(&run->watches.p[0]);
            run->watches.p[0] = run->watches.p[--run->watches.len];
        }
    } else if (streq(what, "COMPACT")) {
        sim_compact(run->sim);
    } else {
        return false;
    }
    return true;
}

static void step(struct world_run *run, struct view text) {
    size_t len = 0;
    while (len < text.len && text.p[len] != '\n')
        len++;
    _cleanup_free_ char *line = xstrndup(text.p, len);
    char *rest = line;
    const char *method = word(&rest), *target = word(&rest);
    if (direct(run, method, target))
        return;
    struct api_request req = {.method = method, .target = target};
    req.content_type = type_of(word(&rest));
    req.accept = type_of(word(&rest));
    if (len < text.len)
        req.body = (struct view){text.p + len + 1, text.len - len - 1};
    ask(run, &req);
}

static void play(struct view script, bool fleet, struct str *log) {
    struct world_run run = {0};
    run.sim = sim_new(
        &(struct sim_options){.seed = 7, .start = SEC(1794700800), .speed = 1, .no_fleet = !fleet});
    for (int i = 0; i < STEPS && script.len; i++) {
        const char *end = memmem(script.p, script.len, "\n%%\n", 4);
        struct view text = {script.p, end ? (size_t)(end - script.p) : script.len};
        size_t used = end ? text.len + 4 : script.len;
        script.p += used;
        script.len -= used;
        step(&run, text);
    }
    direct(&run, "PULL", NULL);
    /* All that was stored, in each form. */
    static const char *const paths[] = {"/api/v1/pods", "/api/v1/nodes", "/api/v1/configmaps",
                                        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                        "/apis"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct api_request req = {.method = "GET", .target = paths[i]};
        ask(&run, &req);
        req.accept = type_of("table");
        ask(&run, &req);
        req.accept = type_of("pb");
        ask(&run, &req);
    }
    while (run.watches.len)
        direct(&run, "CLOSE", NULL);
    vec_done(&run.watches);
    sim_free(run.sim);
    *log = run.log;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    struct view script;
    if (size > INPUT_MAX)
        return 0;
    fuzz_split(data, size, line, &script);
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    play(script, streq(line, "fleet"), &first);
    play(script, streq(line, "fleet"), &second);
    FUZZ_CHECK(first.len == second.len && !memcmp(str_get(&first), str_get(&second), first.len));
    return 0;
}
