/* resourceVersions. */
#include "model/version.h"

#include <stddef.h>
#include <string.h>

bool version_valid(const char *v) {
    size_t n = v ? strspn(v, "0123456789") : 0;
    return n && !v[n] && v[0] != '0';
}

int version_compare(const char *a, const char *b) {
    bool va = version_valid(a), vb = version_valid(b);
    if (!va || !vb)
        return va - vb;
    size_t na = strlen(a), nb = strlen(b);
    if (na != nb)
        return na < nb ? -1 : 1;
    return strcmp(a, b);
}
