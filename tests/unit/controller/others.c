/* Tests of src/controller/others.c: what is noticed of others, and when. */
#include "controller/others.h"

#include "engine/reason.h"
#include "support/policy_world.h"

#define NOW SEC(1794970800) /* 2026-11-18T03:00:00Z */

struct fixture {
    struct policy_world w;
    struct others others;
    struct store *locks;
    struct str told; /* "w1 RivalAtWork" and so on, a line each */
    char *text;      /* the last sentence */
};

static void on_told(void *arg, const char *node, const char *reason, const char *text) {
    struct fixture *f = arg;
    str_addf(&f->told, "%s %s\n", node, reason);
    str_replace(&f->text, text);
}

static int setup(void **state) {
    struct fixture *f = xnew(struct fixture);
    pw_init(&f->w);
    f->locks = store_new(&kind_kured_lock, f->w.pool);
    f->others = (struct others){.policies = f->w.p,
                                .nodes = f->w.cluster.nodes,
                                .tell = on_told,
                                .arg = f,
                                .signs = {.locks = f->locks}};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    store_free(f->locks);
    pw_done(&f->w);
    str_done(&f->told);
    free(f->text);
    free(f);
    return 0;
}

#define OTHERS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void check(struct fixture *f, const char *told) {
    assert_string_equal(str_get(&f->told), told);
    str_reset(&f->told);
}

/* What one watch event says of a node: from what it was to that. */
static void becomes(struct fixture *f, const char *uid, const char *boot, const char *annotations) {
    const struct object *was = store_get(f->w.cluster.nodes, NULL, "w1");
    struct object *before = was ? object_copy(&kind_node, was) : NULL;
    pw_put(&f->w, f->w.cluster.nodes,
           "{'metadata':{'name':'w1','uid':'%s','annotations':{%s}},'status':{'nodeInfo':"
           "{'bootID':'%s'}}}",
           uid, annotations, boot);
    others_node(&f->others, (const struct node *)before, cluster_node(&f->w.cluster, "w1"), NOW);
    object_free(&kind_node, f->w.pool, before);
}

#define KURED "'weave.works/kured-reboot-in-progress':'now'"

static void a_rival_is_told_of_when_it_begins(void **state) {
    struct fixture *f = *state;
    becomes(f, "u", "b1", KURED); /* also of a node that is seen for the first time */
    check(f, "w1 RivalAtWork\n");
    assert_non_null(strstr(f->text, "kured reboots it; its policy counts it only"));
    becomes(f, "u", "b1", KURED);
    becomes(f, "u", "b1", "");
    check(f, "");
    pw_record(&f->w, "default", PW_SLOT("w1", "fleetlock", "taken"));
    pw_step(&f->w);
    becomes(f, "u", "b1", KURED);
    check(f, "w1 RivalAtWork\n");
    assert_non_null(strstr(f->text, "it holds a slot here"));
}

static void pod(struct fixture *f, const char *node, const char *phase) {
    const struct object *was = store_get(f->w.cluster.pods, "ns", "p");
    struct object *before = was ? object_copy(&kind_pod, was) : NULL;
    pw_put(&f->w, f->w.cluster.pods,
           "{'metadata':{'namespace':'ns','name':'p','labels':{'upgrade.cattle.io/plan':'x'}},"
           "'spec':{'nodeName':'%s'},'status':{'phase':'%s'}}",
           node, phase);
    others_pod(&f->others, (const struct pod *)before,
               (const struct pod *)store_get(f->w.cluster.pods, "ns", "p"));
    object_free(&kind_pod, f->w.pool, before);
}

static void a_rival_that_is_a_pod(void **state) {
    struct fixture *f = *state;
    pod(f, "w1", "Succeeded");
    check(f, "");
    pod(f, "w1", "Running");
    check(f, "w1 RivalAtWork\n");
    pod(f, "w1", "Running");
    pod(f, "w1", "Succeeded");
    pod(f, "", "Pending"); /* on no node yet */
    check(f, "");
}

/* The DaemonSet of kured --concurrency has those locks now. */
static void lock(struct fixture *f, const char *locks) {
    const struct object *was = store_get(f->locks, "any", "kured");
    struct object *before = was ? object_copy(&kind_kured_lock, was) : NULL;
    _cleanup_str_ struct str text = STR_INIT;
    for (const char *c = locks; *c; c++)
        str_addf(&text, *c == '\'' ? "\\'" : "%c", *c);
    pw_put(&f->w, f->locks,
           "{'metadata':{'namespace':'any','name':'kured','annotations':{'" KURED_LOCK
           "':'{\\'maxOwners\\':2,\\'locks\\':[%s]}'}}}",
           str_get(&text));
    others_lock(&f->others, (const struct kured_lock *)before,
                (const struct kured_lock *)store_get(f->locks, "any", "kured"), NOW);
    object_free(&kind_kured_lock, f->w.pool, before);
}

static void a_rival_that_has_locked(void **state) {
    struct fixture *f = *state;
    lock(f, "{'nodeID':'w1'}"); /* of a node that is not there */
    check(f, "");
    becomes(f, "u", "b1", "");
    lock(f, "");
    lock(f, "{'nodeID':'w1','created':'2026-11-18T02:00:00Z','TTL':1000}"); /* over */
    check(f, "");
    lock(f, "{'nodeID':'w0'},{'nodeID':'w1'}");
    check(f, "w1 RivalAtWork\n");
    assert_non_null(strstr(f->text, "kured reboots it; its policy counts it only"));
    lock(f, "{'nodeID':'w1'}");
    becomes(f, "u", "b1", KURED); /* the same, said in another way */
    check(f, "");
    lock(f, "");
    lock(f, "{'nodeID':'w1'}");
    check(f, "");
}

static void a_reboot_that_did_not_wait(void **state) {
    static const struct {
        const char *state, *uid, *boot, *told;
    } cases[] = {{"taken", "u", "b2", "w1 RebootedByOthers\n"},
                 {"taken", "u", "b1", ""},
                 {"taken", "v", "b2", ""}, /* another node of that name */
                 {"granted", "u", "b2", ""},
                 {NULL, "u", "b2", ""}};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        pw_record(&f->w, "default",
                  !cases[i].state                  ? PW_NO_SLOT
                  : streq(cases[i].state, "taken") ? PW_SLOT("w1", "fleetlock", "taken")
                                                   : PW_SLOT("w1", "fleetlock", "granted"));
        pw_step(&f->w);
        becomes(f, "u", "b1", "");
        str_reset(&f->told);
        becomes(f, cases[i].uid, cases[i].boot, "");
        check(f, cases[i].told);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        OTHERS_TEST(a_rival_is_told_of_when_it_begins),
        OTHERS_TEST(a_rival_that_is_a_pod),
        OTHERS_TEST(a_rival_that_has_locked),
        OTHERS_TEST(a_reboot_that_did_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
