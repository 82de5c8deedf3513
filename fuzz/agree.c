/* The two decoders agree: what protobuf decodes to, printed as JSON, decodes to the same. */
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
    if (obj)
        fuzz_round_trip(&f, obj);
    fuzz_free(&f, obj);
    fuzz_end(&f);
    return 0;
}
