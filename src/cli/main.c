/* The program. */
#include "cli/cli.h"
#include "cli/commit.h"

int main(int argc, char **argv) {
    return cli_main(argc, argv, SLIPWAY_COMMIT);
}
