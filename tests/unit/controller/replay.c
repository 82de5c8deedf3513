/* Tests of src/controller/replay.c: what a controller has recorded of a simulated cluster comes out
 * the same; what was changed in the file, or is none, is noticed. */
#include "controller/replay.h"

#include "support/drain_site.h" /* before cmocka, whose fail() is a macro */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/jsonw.h"
#include "controller/controller.h"
#include "model/own_crd.h"
#include "model/own_fields.h"

struct fixture {
    struct drain_site s;
    char dir[32];
    char *path, *before;
    unsigned outs, notes, taken, differences, misfits;
    bool unknown; /* what is different now is for a check that knows nothing */
    size_t first_difference;
    bool blind; /* for a while, in what is recorded, nodes cannot be watched */
};

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    strcpy(f->dir, "/tmp/slipway-replay-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->path = xasprintf("%s/record", f->dir);
    f->before = xasprintf("%s.1", f->path);
    drain_site_init(&f->s, 3);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    drain_site_done(&f->s);
    unlink(f->path);
    unlink(f->before);
    rmdir(f->dir);
    free(f->path);
    free(f->before);
    free(f);
    return 0;
}

#define REPLAY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void on_out(void *arg, const struct tape_line *line, struct now now, size_t at) {
    struct fixture *f = arg;
    f->outs++;
    f->notes += streq(line->out, "note");
    f->taken += str_same(line->reason, "SlotTaken");
    assert_true(now.mono > 0 && at > 0);
}

static void on_differs(void *arg, const char *then, const char *now, size_t at) {
    struct fixture *f = arg;
    assert_true(then || now);
    if (!f->differences++)
        f->first_difference = at;
    f->unknown |= now && strstr(now, "CheckUnknown");
    f->misfits += now && strstr(now, "of another kind");
}

static int play(struct fixture *f, const char *text, struct err *err) {
    struct replay *r = NULL;
    f->outs = f->notes = f->taken = f->differences = f->misfits = 0;
    f->unknown = false;
    int rc =
        replay_new(view_of(text),
                   &(struct replay_opts){.out = on_out, .differs = on_differs, .arg = f}, &r, err);
    while (!rc && (rc = replay_next(r, err)) == 1)
        rc = 0;
    replay_free(r);
    return rc;
}

/* Of w0 and w1 both are asked for, as a replica would have written it. */
static void ask(struct fixture *f) {
    char now[TIMEFMT_LEN];
    time_format(loop_wall(f->s.loop), false, now);
#define WISH(node)                                                                                 \
    "{\\\"node\\\":\\\"" node                                                                      \
    "\\\",\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"fleetlock\\\","                          \
    "\\\"since\\\":\\\"%s\\\",\\\"asked\\\":\\\"%s\\\"}"
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'slipway-slots-default','labels':{'slipway.dev/slots':"
                  "'default'}},'data':{'slots':'{\\\"v\\\":1,\\\"fence\\\":0,\\\"slots\\\":[],"
                  "\\\"waiting\\\":[" WISH("w0") "," WISH("w1") "]}'}}",
                  now, now, now, now);
    site_post(&f->s, "/api/v1/namespaces/default/configmaps", json);
}

/* A controller is at work for that long. */
static char *record(struct fixture *f, int64_t time, int64_t max) {
    struct controller *c = NULL;
    struct controller_opts opts = {.ns = "default",
                                   .identity = "first",
                                   .log = &f->s.log,
                                   .seed = 100,
                                   .rate = 20,
                                   .record = f->path,
                                   .record_max = max};
    char *text = NULL;
    size_t len;
    site_deployment(&f->s, "web", 6);
    drain_site_pass(&f->s, SEC(20));
    if (!f->blind)
        ask(f);
    assert_int_equal(controller_new(&f->s.client, &opts, &c, NULL), 0);
    if (f->blind) {
        drain_site_pass(&f->s, SEC(10));
        kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = KUBE_FAULT_REFUSE,
                                                             .path = "/api/v1/nodes?",
                                                             .lanes = 1 << KUBE_LANE_WATCH});
        drain_site_pass(&f->s, SEC(700)); /* longer than a watch lasts */
        ask(f);
        drain_site_pass(&f->s, SEC(60));
        kube_fault_clear(f->s.fault);
    }
    drain_site_pass(&f->s, time);
    controller_free(c);
    assert_int_equal(file_read(f->path, 1 << 28, &text, &len, NULL), 0);
    return text;
}

static void it_comes_out_the_same(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *text = record(f, SEC(3600), 64 << 20);
    assert_int_equal(play(f, text, &err), 0);
    assert_int_equal(f->differences, 0);
    assert_true(f->notes >= 6); /* both are drained, and put back when they do not go */
    assert_null(strstr(text, "machineID"));
}

/* Each file begins anew, and so did the engine when it was written. */
static void so_does_the_second_file(void **state) {
    struct fixture *f = *state;
    _cleanup_err_ struct err err = ERR_INIT;
    char *old = NULL;
    size_t len;
    _cleanup_free_ char *text = record(f, SEC(20), 40 << 10);
    assert_int_equal(file_read(f->before, 1 << 28, &old, &len, NULL), 0);
    assert_int_equal(play(f, old, &err), 0);
    assert_int_equal(f->differences, 0);
    unsigned outs = f->outs;
    assert_int_equal(play(f, text, &err), 0);
    assert_int_equal(f->differences, 0);
    assert_true(outs + f->outs > 0);
    free(old);
}

/* Wherever it was cut. */
static void a_torn_file_is_played_to_its_end(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *text = record(f, SEC(60), 64 << 20);
    size_t len = strlen(text), head = (size_t)(strchr(text, '\n') - text) + 1;
    for (size_t cut = head; cut < len; cut += 1 + len / 40) {
        _cleanup_free_ char *torn = xstrndup(text, cut);
        assert_int_equal(play(f, torn, NULL), 0);
        assert_int_equal(f->differences, 0);
    }
}

static char *with(const char *text, const char *from, const char *to, size_t *line) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    *line = 1;
    for (const char *p = text; p < at; p++)
        *line += *p == '\n';
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void what_differs_is_said_where_it_does(void **state) {
    struct fixture *f = *state;
    size_t line;
    _cleanup_free_ char *text = record(f, SEC(60), 64 << 20);
    _cleanup_free_ char *note = with(text, "\"to\":\"Draining\"", "\"to\":\"Complete\"", &line);
    assert_int_equal(play(f, note, NULL), 0);
    assert_int_equal(f->differences, 1);
    assert_true(f->first_difference < line);
    _cleanup_free_ char *node = with(text, "\"verb\":\"evict\"", "\"verb\":\"delete\"", &line);
    assert_int_equal(play(f, node, NULL), 0);
    assert_int_equal(f->differences, 1);
    assert_true(f->first_difference < line);
}

/* The engine is told something else: it does something else. */
static void another_input_has_another_outcome(void **state) {
    struct fixture *f = *state;
    size_t line;
    _cleanup_free_ char *text = record(f, SEC(60), 64 << 20);
    _cleanup_free_ char *other = with(text, "{\"in\":\"lead\"", "{\"in\":\"follow\"", &line);
    assert_int_equal(play(f, other, NULL), 0);
    assert_true(f->differences > 0);
    assert_true(f->first_difference > line);
}

/* The whole line gone: of what follows, requests have other numbers. */
static char *without(const char *text, const char *at) {
    const char *end = strchr(at, '\n') + 1;
    return xasprintf("%.*s%s", (int)(at - text), text, end);
}

static const char *next_answer(const char *text, const char *from) {
    const char *at = from ? strchr(from, '\n') : text;
    return at ? strstr(at, "{\"in\":\"answer\"") : NULL;
}

/* From there on the engine takes another course: what it asks for under a number is not what it
 * asked for then, maybe not even of the same kind. That is a difference, and nothing worse. */
static void an_answer_goes_to_what_was_asked(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *text = record(f, SEC(60), 64 << 20);
    unsigned differed = 0, n = 0;
    for (const char *at = NULL; (at = next_answer(text, at)); n++) {
        const char *outcome = strstr(at, "\"outcome\":\"OK\"");
        const char *end = strchr(at, '\n');
        if (!outcome || outcome > end)
            continue;
        _cleanup_free_ char *refused =
            xasprintf("%.*s\"outcome\":\"NotFound\"%s", (int)(outcome - text), text,
                      outcome + strlen("\"outcome\":\"OK\""));
        _cleanup_free_ char *lost = without(text, at);
        assert_int_equal(play(f, refused, NULL), 0);
        differed += f->differences > 0;
        assert_int_equal(play(f, lost, NULL), 0);
        differed += f->differences > 0;
    }
    if (n < 10 || differed < 10)
        fail_msg("%u answers, %u differences", n, differed);
}

/* Its number is one that waits, and it is another kind of object. */
static void an_answer_of_another_kind_is_a_difference(void **state) {
    struct fixture *f = *state;
    _cleanup_free_ char *text = record(f, SEC(60), 64 << 20);
    const char *at = text, *map = "\"kind\":\"configmaps\"", *kind = NULL;
    while ((at = next_answer(text, at == text ? NULL : at)) &&
           (!(kind = strstr(at, map)) || kind > strchr(at, '\n')))
        ;
    assert_non_null(at);
    _cleanup_free_ char *other =
        xasprintf("%.*s\"kind\":\"nodes\"%s", (int)(kind - text), text, kind + strlen(map));
    assert_int_equal(play(f, other, NULL), 0);
    assert_int_equal(f->misfits, 1);
}

/* --- what the checks go by --- */

static void define(struct fixture *f) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        sim_ask(&f->s.sim, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                str_get(&json));
    }
    site_post(&f->s, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
              "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata'"
              ":{'name':'virtualmachineinstances.kubevirt.io'},'spec':{'group':'kubevirt.io',"
              "'scope':'Namespaced','names':{'plural':'virtualmachineinstances','kind':"
              "'VirtualMachineInstance'},'versions':[{'name':'v1','served':true,'storage':true,"
              "'schema':{'openAPIV3Schema':{'type':'object',"
              "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
    drain_site_pass(&f->s, SEC(5));
}

#define MACHINES "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"
#define POLICY   "/apis/slipway.dev/v1alpha1/policies/default"

/* Two nodes with a virtual machine that may only leave by migration, and cannot. */
static void shut_gates(struct fixture *f) {
    define(f);
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/policies",
              "{'apiVersion':'slipway.dev/v1alpha1','kind':'Policy','metadata':{'name':'default'},"
              "'spec':{'nodeSelector':{},'maxUnavailable':1,'fleetlock':{'groups':['default']}}}");
    for (int i = 0; i < 2; i++) {
        _cleanup_free_ char *json = xasprintf(
            "{'apiVersion':'kubevirt.io/v1','kind':'VirtualMachineInstance','metadata':{'name':"
            "'vm-%d'},'spec':{'evictionStrategy':'LiveMigrate'},'status':{'nodeName':'w%d','phase':"
            "'Running','conditions':[{'type':'LiveMigratable','status':'False','message':'no'}]}}",
            i, i);
        site_post(&f->s, MACHINES, json);
    }
    ask(f);
}

static void open_gate(struct fixture *f, int i) {
    _cleanup_free_ char *path = xasprintf(MACHINES "/vm-%d", i);
    sim_ask(&f->s.sim, 200, "DELETE", path, NULL);
}

/* One more, with no such machine. */
static void maintain_w2(struct fixture *f) {
    site_post(&f->s, "/apis/slipway.dev/v1alpha1/maintenances",
              "{'apiVersion':'slipway.dev/v1alpha1','kind':'Maintenance','metadata':{'name':'m'},"
              "'spec':{'node':'w2','operation':'Drain'}}");
}

static void fault(struct fixture *f, enum kube_fault_kind kind, const char *path) {
    kube_fault_clear(f->s.fault);
    kube_fault_add(f->s.fault, &(struct kube_fault_rule){.kind = kind, .path = path});
}

/* Plays every file that there was, and says how many; what is in none of them is not asked. The
 * last one is for the caller. */
static unsigned gated(struct fixture *f, int64_t max, char **last) {
    struct controller *c = NULL;
    struct controller_opts opts = {.ns = "default",
                                   .identity = "first",
                                   .log = &f->s.log,
                                   .seed = 100,
                                   .record = f->path,
                                   .record_max = max};
    char *seen = NULL;
    unsigned files = 0;
    size_t len;
    shut_gates(f);
    assert_int_equal(controller_new(&f->s.client, &opts, &c, NULL), 0);
    for (int at = 0; at < 100; at++) {
        char *old = NULL;
        if (at == 15)
            site_patch(&f->s, POLICY, "{'spec':{'maxUnavailable':2}}");
        if (at == 25)
            open_gate(f, 0);
        if (at == 40) /* it leads no longer: what it had read is read again when it does */
            fault(f, KUBE_FAULT_REFUSE, "/leases/");
        if (at == 50)
            maintain_w2(f);
        if (at == 55)
            fault(f, KUBE_FAULT_STALL, "/virtualmachineinstances");
        if (at == 62)
            kube_fault_clear(f->s.fault);
        if (at == 70)
            open_gate(f, 1);
        drain_site_pass(&f->s, SEC(3));
        if (file_read(f->before, 1 << 28, &old, &len, NULL) || str_same(old, seen)) {
            free(old);
            continue;
        }
        files++;
        assert_int_equal(play(f, old, NULL), 0);
        assert_int_equal(f->differences, 0);
        free(seen);
        seen = old;
    }
    controller_free(c);
    free(seen);
    assert_int_equal(file_read(f->path, 1 << 28, last, &len, NULL), 0);
    return files;
}

/* Without the lines that have that text. */
static char *leave_out(const char *text, const char *part) {
    struct str out = STR_INIT;
    for (const char *end; *text; text = end + 1) {
        _cleanup_free_ char *line = xstrndup(text, (size_t)((end = strchr(text, '\n')) - text));
        if (!strstr(line, part))
            str_addf(&out, "%s\n", line);
    }
    return str_take(&out);
}

static void what_the_checks_went_by_is_in_it(void **state) {
    struct fixture *f = *state;
    char *text = NULL;
    size_t line;
    assert_int_equal(gated(f, 64 << 20, &text), 0);
    assert_non_null(strstr(text, "\"reason\":\"GateShut\""));
    assert_non_null(strstr(text, "{\"in\":\"follow\"}"));
    assert_non_null(strstr(text, "\"reason\":\"Drained\""));
    assert_int_equal(play(f, text, NULL), 0);
    assert_int_equal(f->differences, 0);
    assert_int_equal(f->taken, 2); /* of w0 and w2, whose slots are all there are */
    /* It is what the gates were shut by. */
    _cleanup_free_ char *unread = leave_out(text, "\"source\":");
    assert_int_equal(play(f, unread, NULL), 0);
    assert_true(f->differences > 0);
    _cleanup_free_ char *other = with(text, "\"LiveMigratable\",\"status\":\"False\"",
                                      "\"LiveMigratable\",\"status\":\"True\"", &line);
    assert_int_equal(play(f, other, NULL), 0);
    assert_true(f->differences > 0);
    assert_true(f->first_difference > line);
    free(text);
}

/* That the picture was old is in it, and that it was no more. */
static void nobody_gets_a_slot_by_an_old_picture_again(void **state) {
    struct fixture *f = *state;
    f->blind = true;
    _cleanup_free_ char *text = record(f, SEC(3600), 64 << 20);
    assert_int_equal(play(f, text, NULL), 0);
    assert_int_equal(f->differences, 0);
    assert_non_null(strstr(text, "{\"in\":\"blind\",\"text\":\"nodes cannot be watched"));
    assert_non_null(strstr(text, "{\"in\":\"blind\"}\n"));
    _cleanup_free_ char *seeing = leave_out(text, "{\"in\":\"blind\"");
    assert_int_equal(play(f, seeing, NULL), 0);
    assert_true(f->differences > 0); /* w0 gets its slot too early */
}

/* How many requests there were before it. */
static unsigned long requests_before(const char *text) {
    const char *at = strstr(text, "\"actions\":");
    assert_non_null(at);
    return strtoul(at + strlen("\"actions\":"), NULL, 10);
}

/* Each of them begins with what had been read until then. */
static void so_it_is_in_every_file(void **state) {
    for (int64_t max = 24 << 10; max <= 64 << 10; max += 8 << 10) { /* it ends anywhere */
        struct fixture *f = *state;
        char *text = NULL;
        assert_true(gated(f, max, &text) > 2);
        assert_int_equal(play(f, text, NULL), 0);
        assert_int_equal(f->differences, 0);
        assert_true(requests_before(text) < 1000); /* else it did nothing but begin anew */
        free(text);
        teardown(state);
        setup(state);
    }
}

/* Nobody asked them, as far as it can be told: it is played as it was then. */
static void an_older_recording_has_no_checks(void **state) {
    struct fixture *f = *state;
    char *text = NULL;
    size_t line;
    gated(f, 64 << 20, &text);
    _cleanup_free_ char *unread = leave_out(text, "\"source\":");
    _cleanup_free_ char *older = with(unread, "slipway.record/1.3", "slipway.record/1.0", &line);
    assert_int_equal(play(f, unread, NULL), 0);
    assert_true(f->unknown);
    assert_int_equal(play(f, older, NULL), 0);
    assert_false(f->unknown);
    free(text);
}

#define HEAD "{\"in\":\"begin\",\"format\":\"slipway.record/1.3\",\"seed\":\"1\"}\n"

static void what_cannot_be_played_is_an_error(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "no recording"},
        {"x\n", "line 1: "},
        {"{\"in\":\"step\"}\n", "no recording"},
        {HEAD "{\"in\":\"no\"}\n", "line 2: \"no\" is nothing"},
        {HEAD HEAD, "line 2: what comes there cannot be played"},
        {HEAD "{\"out\":\"note\"}\n{\"in\":\"step\"}\n", "line 2: what comes there"},
        {HEAD "{\"in\":\"put\",\"kind\":\"secrets\"}\n", "line 2: there are no \"secrets\""},
        {HEAD "{\"in\":\"put\",\"kind\":\"nodes\"}\n", "line 2: "},
        {HEAD "{\"in\":\"put\",\"kind\":\"nodes\",\"object\":{}}\n", "line 2: "},
        {HEAD "{\"in\":\"list\",\"kind\":\"nodes\",\"part\":\"a\"}\n", "line 2: nodes are not"},
        {HEAD "{\"in\":\"remove\",\"kind\":\"nodes\"}\n", "line 2: the name"},
        {HEAD "{\"in\":\"ask\",\"name\":\"w\"}\n", "line 2: a question"},
        {HEAD "{\"in\":\"put\",\"source\":\"secrets\"}\n", "line 2: no check reads \"secrets\""},
        {HEAD "{\"in\":\"put\",\"source\":\"budgets\",\"object\":{}}\n", "line 2: "},
        {HEAD "{\"in\":\"list\",\"source\":\"ceph-pods\",\"part\":\"a\"}\n",
         "line 2: ceph-pods are not in parts"},
        {HEAD "{\"in\":\"read\",\"outcome\":\"done\"}\n", "line 2: no check reads \"\""},
        {HEAD "{\"in\":\"read\",\"source\":\"budgets\"}\n", "line 2: how budgets were read"},
        {HEAD "{\"in\":\"answer\",\"outcome\":\"x\"}\n", "line 2: an answer"},
        {HEAD "{\"in\":\"answer\",\"outcome\":\"Conflict\",\"kind\":\"x\"}\n", "line 2: an answer"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        assert_true(play(f, cases[i].text, &err) < 0);
        if (!strstr(err_msg(&err), cases[i].message))
            fail_msg("\"%s\" does not say \"%s\"", err_msg(&err), cases[i].message);
    }
    assert_int_equal(play(f, HEAD, NULL), 0);
    assert_int_equal(play(f, HEAD "{\"in\":\"ste", NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REPLAY_TEST(it_comes_out_the_same),
        REPLAY_TEST(so_does_the_second_file),
        REPLAY_TEST(a_torn_file_is_played_to_its_end),
        REPLAY_TEST(what_differs_is_said_where_it_does),
        REPLAY_TEST(another_input_has_another_outcome),
        REPLAY_TEST(an_answer_goes_to_what_was_asked),
        REPLAY_TEST(an_answer_of_another_kind_is_a_difference),
        REPLAY_TEST(what_the_checks_went_by_is_in_it),
        REPLAY_TEST(nobody_gets_a_slot_by_an_old_picture_again),
        REPLAY_TEST(so_it_is_in_every_file),
        REPLAY_TEST(an_older_recording_has_no_checks),
        REPLAY_TEST(what_cannot_be_played_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
