/* The protobuf decoder: any bytes give a complete object or an error that leaves nothing behind,
 * and the same bytes always the same. */
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
    void *obj = fuzz_decode(&f, KUBE_PROTOBUF, body);
    void *again = fuzz_decode(&f, KUBE_PROTOBUF, body);
    FUZZ_CHECK(!obj == !again);
    FUZZ_CHECK(!obj || !memcmp(obj, again, type->size));
    fuzz_free(&f, obj);
    fuzz_free(&f, again);
    fuzz_end(&f);
    return 0;
}
