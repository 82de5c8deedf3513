/* Tests of src/fleetlock/machine_id.c, against ids that systemd and Zincati have made. */
#include "fleetlock/machine_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static const char *derived(const char *machine, const char *app, char out[static MACHINE_ID_TEXT]) {
    struct machine_id m, a, id;
    assert_true(machine_id_parse(machine, &m));
    assert_true(machine_id_parse(app, &a));
    machine_id_derive(&m, &a, &id);
    machine_id_format(&id, out);
    return out;
}

static void ids_that_others_have_derived(void **state) {
    (void)state;
    static const struct {
        const char *machine, *app, *id;
    } cases[] = {
        {"1c09ca98649c4c7abc779cd04c96812e", MACHINE_ID_ZINCATI,
         "978a225b3d7b40e9acd7ce9b62f68444"},
        {"ec210b3d-e22b-7e2f-6511-1257854e5299", MACHINE_ID_ZINCATI,
         "9114b9e5e9814aad9c44032bd0319397"},
        {"ad432f2cb0c28bbcd1f87a20199237f9", MACHINE_ID_ZINCATI,
         "8121764139b84941ba5ccb83ccae1f98"},
        {"3d4b4011908c44a780a9033a7336d354", MACHINE_ID_ZINCATI,
         "9765cc552db7472b930408a8cff50c19"},
        {"2e074e9b299c41a59923c51ae16f279b", "033b1b9b264441fcaa173e9e5bf35c5a",
         "4d4a86c9c6644a479560ded5d19a30c5"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char id[MACHINE_ID_TEXT];
        assert_string_equal(derived(cases[i].machine, cases[i].app, id), cases[i].id);
    }
}

static void how_ids_may_be_written(void **state) {
    (void)state;
    struct machine_id id;
    char text[MACHINE_ID_TEXT];
    assert_true(machine_id_parse("EC210B3D-E22B-7E2F-6511-1257854E5299", &id));
    machine_id_format(&id, text);
    assert_string_equal(text, "ec210b3de22b7e2f65111257854e5299");
    static const char *const wrong[] = {
        "",
        "-",
        "ec210b3de22b7e2f65111257854e529",   /* 31 */
        "ec210b3de22b7e2f65111257854e52990", /* 33 */
        "ec210b3de22b7e2f65111257854e529g",
        "ec210b3d-e22b7e2f65111257854e5299",     /* one dash */
        "ec210b3d--e22b-7e2f-65111257854e5299",  /* two together */
        "ec21-0b3de22b-7e2f-6511-1257854e5299",  /* at the wrong place */
        "ec210b3d-e22b-7e2f-6511-1257854e5299-", /* one more */
        " ec210b3de22b7e2f65111257854e5299",
        "ec210b3de22b7e2f65111257854e5299\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(machine_id_parse(wrong[i], &id));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_that_others_have_derived),
        cmocka_unit_test(how_ids_may_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
