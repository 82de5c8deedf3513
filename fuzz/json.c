/* The JSON decoder: any text gives an object that survives printing and reading, or an error that
 * leaves nothing behind. Of Slipway's own kinds, also when defaults were put in. */
#include "fuzz.h"
#include "model/own_read.h"

static const struct own_resource *own_named(const char *name) {
    const struct own_resource *r = own_resources;
    while (r->kind && !streq(r->kind->name, name))
        r++;
    return r->kind ? r : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[64];
    struct view body;
    struct fuzz f;
    fuzz_split(data, size, name, &body);
    const struct own_resource *own = own_named(name);
    const struct type *type = own ? own->kind->type : fuzz_type(name);
    if (!type)
        return 0;
    fuzz_begin(&f, type);
    void *obj = fuzz_decode(&f, KUBE_JSON, body);
    if (obj && own)
        (void)own_complete(own, f.pool, obj, NULL);
    if (obj)
        fuzz_round_trip(&f, obj);
    fuzz_free(&f, obj);
    fuzz_end(&f);
    return 0;
}
