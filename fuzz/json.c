/* The JSON decoder: any text gives an object that survives printing and reading, or an error that
 * leaves nothing behind. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[64];
    struct view body;
    struct fuzz f;
    fuzz_split(data, size, name, &body);
    const struct type *type = fuzz_type(name);
    if (!type)
        return 0;
    fuzz_begin(&f, type);
    void *obj = fuzz_decode(&f, KUBE_JSON, body);
    if (obj)
        fuzz_round_trip(&f, obj);
    fuzz_free(&f, obj);
    fuzz_end(&f);
    return 0;
}
