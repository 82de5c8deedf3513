/* Tests of src/fleetlock/roster.c. */
#include "fleetlock/roster.h"

#include "support/world.h"

struct fixture {
    struct world w;
    struct roster *r;
};

static void node(struct fixture *f, const char *name, const char *machine, int version) {
    _cleanup_free_ char *json = xasprintf("{'metadata':{'name':'%s','resourceVersion':'%d'},"
                                          "'status':{'nodeInfo':{'machineID':'%s'}}}",
                                          name, version, machine);
    world_add(&f->w, &kind_node, json);
}

static void begin(struct fixture *f, const struct roster_options *opts) {
    world_init(&f->w);
    node(f, "w1", "1c09ca98649c4c7abc779cd04c96812e", 1);
    f->r = roster_new(f->w.nodes, opts);
}

static void done(struct fixture *f) {
    world_done(&f->w);
    roster_free(f->r);
}

static const char *one(const struct fixture *f, const char *id) {
    const char *name;
    return roster_find(f->r, id, &name) == 1 ? name : NULL;
}

static void the_ids_of_a_node(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, &(struct roster_options){0});
    node(&f, "w2", "ec210b3d-e22b-7e2f-6511-1257854e5299", 2);
    assert_string_equal(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"), "w1"); /* Zincati's */
    assert_string_equal(one(&f, "978a225b-3d7b-40e9-acd7-ce9b62f68444"), "w1");
    assert_string_equal(one(&f, "1c09ca98649c4c7abc779cd04c96812e"), "w1"); /* its own */
    assert_string_equal(one(&f, "ec210b3d-e22b-7e2f-6511-1257854e5299"), "w2");
    assert_string_equal(one(&f, "EC210B3DE22B7E2F65111257854E5299"), "w2");
    assert_string_equal(one(&f, "9114b9e5e9814aad9c44032bd0319397"), "w2");
    assert_null(one(&f, "w1"));
    assert_null(one(&f, ""));
    assert_null(one(&f, "978a225b3d7b40e9acd7ce9b62f68445"));
    done(&f);
}

static void other_applications_and_names(void **state) {
    (void)state;
    struct machine_id apps[2];
    assert_true(machine_id_parse(MACHINE_ID_ZINCATI, &apps[0]));
    assert_true(machine_id_parse("033b1b9b264441fcaa173e9e5bf35c5a", &apps[1]));
    struct fixture f;
    begin(&f, &(struct roster_options){.apps = apps, .n_apps = 2, .names = true});
    node(&f, "w2", "2e074e9b299c41a59923c51ae16f279b", 2);
    assert_string_equal(one(&f, "4d4a86c9c6644a479560ded5d19a30c5"), "w2");
    assert_string_equal(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"), "w1");
    assert_string_equal(one(&f, "w2"), "w2");
    done(&f);
}

static void an_id_of_several_nodes_is_nobodys(void **state) {
    (void)state;
    struct fixture f;
    const char *name;
    begin(&f, &(struct roster_options){0});
    node(&f, "w0", "1c09ca98-649c-4c7a-bc77-9cd04c96812e", 2); /* the same in another notation */
    assert_int_equal(roster_find(f.r, "978a225b3d7b40e9acd7ce9b62f68444", &name), 2);
    assert_string_equal(name, "w0");
    assert_int_equal(roster_find(f.r, "1c09ca98649c4c7abc779cd04c96812e", &name), 2);
    assert_int_equal(roster_find(f.r, "1c09ca98-649c-4c7a-bc77-9cd04c96812e", &name), 2);
    assert_int_equal(roster_find(f.r, "1C09CA98649C4C7ABC779CD04C96812E", &name), 2);
    /* until one of them has another, or is gone */
    node(&f, "w0", "ad432f2cb0c28bbcd1f87a20199237f9", 3);
    assert_string_equal(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"), "w1");
    assert_string_equal(one(&f, "8121764139b84941ba5ccb83ccae1f98"), "w0");
    assert_true(store_remove(f.w.nodes, NULL, "w1", "4"));
    assert_int_equal(roster_find(f.r, "978a225b3d7b40e9acd7ce9b62f68444", &name), 0);
    assert_null(name);
    done(&f);
}

static void ids_that_are_no_machine_ids(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, &(struct roster_options){0});
    node(&f, "w2", "", 2); /* a node that says nothing */
    node(&f, "w3", "", 3);
    node(&f, "w4", "virtual-4", 4); /* equal is equal */
    assert_string_equal(one(&f, "virtual-4"), "w4");
    assert_null(one(&f, "VIRTUAL-4"));
    assert_null(one(&f, ""));
    done(&f);
}

/* The options change while it is in use: nothing is left of the old ones. */
static void other_options_later(void **state) {
    (void)state;
    struct fixture f;
    struct machine_id app;
    assert_true(machine_id_parse("033b1b9b264441fcaa173e9e5bf35c5a", &app));
    begin(&f, &(struct roster_options){0});
    node(&f, "w5", "2e074e9b299c41a59923c51ae16f279b", 5);
    assert_null(one(&f, "4d4a86c9c6644a479560ded5d19a30c5"));
    assert_string_equal(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"), "w1");
    roster_use(f.r, &(struct roster_options){&app, 1, true});
    assert_string_equal(one(&f, "4d4a86c9c6644a479560ded5d19a30c5"), "w5");
    assert_string_equal(one(&f, "w5"), "w5");
    assert_null(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"));
    assert_string_equal(one(&f, "1c09ca98649c4c7abc779cd04c96812e"), "w1");
    roster_use(f.r, &(struct roster_options){0});
    assert_null(one(&f, "w5"));
    assert_string_equal(one(&f, "978a225b3d7b40e9acd7ce9b62f68444"), "w1");
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ids_of_a_node),
        cmocka_unit_test(other_applications_and_names),
        cmocka_unit_test(an_id_of_several_nodes_is_nobodys),
        cmocka_unit_test(ids_that_are_no_machine_ids),
        cmocka_unit_test(other_options_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
