/* Lists and watches in JSON. */
#include "stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_stream(KUBE_JSON, data, size);
}
