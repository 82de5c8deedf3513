/* Runs a fuzz target over the files that are named, and those in the directories that are named. A
 * broken promise ends the program with a signal; the file it was about has been printed before. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "fuzz.h"

static int run_file(const char *path) {
    _cleanup_err_ struct err err = ERR_INIT;
    _cleanup_free_ char *bytes = NULL;
    size_t len;
    if (file_read(path, 64 << 20, &bytes, &len, &err)) {
        fprintf(stderr, "%s\n", err_msg(&err));
        return 1;
    }
    printf("%s\n", path);
    fflush(stdout);
    /* A copy of exactly its size: the address sanitizer sees a byte too many. */
    uint8_t *copy = xmemdup(bytes, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    return 0;
}

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int run_path(const char *path) {
    struct dirent **entries;
    struct stat st;
    int rc = 0;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return run_file(path);
    int n = scandir(path, &entries, is_input, alphasort);
    if (n < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char *inside = xasprintf("%s/%s", path, entries[i]->d_name);
        rc |= run_path(inside);
        free(inside);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int main(int argc, char **argv) {
    int rc = 0;
    for (int i = 1; i < argc; i++)
        rc |= run_path(argv[i]);
    return rc;
}
