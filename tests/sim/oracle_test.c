/* The oracle, on histories made by hand: what is right passes, and each thing that is wrong is
 * found, by its promise. */
#include "oracle_site.h"

int main(void) {
    return oracle_test_evict() + oracle_test_cordon() + oracle_test_polite();
}
