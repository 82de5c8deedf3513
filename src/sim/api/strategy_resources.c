/* Requests, limits and what follows from them. */
#include <inttypes.h>

#include "model/quantity.h"
#include "sim/api/strategy_kinds.h"
#include "sim/schema/quantity_text.h"

bool is_huge_page_resource(const char *name) {
    return str_starts(name, "hugepages-");
}

static bool is_native(const char *name) {
    return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

/* Somebody else's: "example.com/gpu". */
static bool is_extended(const char *name) {
    if (is_native(name) || str_starts(name, "requests."))
        return false;
    _cleanup_free_ char *quota = xasprintf("requests.%s", name);
    return name_ok(name_label_key, quota);
}

static bool can_overcommit(const char *name) {
    return is_native(name) && !is_huge_page_resource(name);
}

static const char *const counted[] = {"pods",
                                      "resourcequotas",
                                      "services",
                                      "replicationcontrollers",
                                      "secrets",
                                      "configmaps",
                                      "persistentvolumeclaims",
                                      "services.nodeports",
                                      "services.loadbalancers",
                                      NULL};

void check_quantity(struct field_errors *e, const struct at *at, const char *resource,
                    const json_t *value) {
    int64_t milli = quantity_of(value);
    const char *text = strna(json_string_value(value));
    if (milli < 0)
        bad_string(e, at, NULL, text, "must be greater than or equal to 0");
    if (milli % 1000 && (is_one_of(resource, counted) || is_extended(resource)))
        bad_string(e, at, NULL, text, "must be an integer");
}

/* validateResourceName() and what containers or pods allow of it. */
static void check_resource_name(struct field_errors *e, const struct at *at, const char *name,
                                int of) {
    static const char *const standard[] = {"cpu",
                                           "memory",
                                           "ephemeral-storage",
                                           "requests.cpu",
                                           "requests.memory",
                                           "requests.ephemeral-storage",
                                           "limits.cpu",
                                           "limits.memory",
                                           "limits.ephemeral-storage",
                                           "pods",
                                           "resourcequotas",
                                           "services",
                                           "replicationcontrollers",
                                           "secrets",
                                           "configmaps",
                                           "persistentvolumeclaims",
                                           "storage",
                                           "requests.storage",
                                           "services.nodeports",
                                           "services.loadbalancers",
                                           NULL};
    static const char *const of_container[] = {"cpu", "memory", "ephemeral-storage", NULL};
    static const char *const of_pod[] = {"cpu", "hugepages-", "memory", NULL};
    size_t before = e->v.len;
    bool plain = !strchr(name, '/'), huge = is_huge_page_resource(name);
    check_name(e, at, NULL, name, name_label_key);
    if (e->v.len == before && plain && !is_one_of(name, standard) && !huge &&
        !str_starts(name, "requests.hugepages-"))
        bad_string(e, at, NULL, name, "must be a standard resource type or fully qualified");
    if (of == RESOURCES_OF_POD) {
        if (e->v.len == before && !huge && !streq(name, "cpu") && !streq(name, "memory")) {
            _cleanup_json_ json_t *shown = json_string(name);
            bad_unsupported(e, at, NULL, shown, of_pod);
        }
    } else if (plain) {
        if (!is_one_of(name, of_container) && !huge)
            bad_string(e, at, NULL, name, "must be a standard resource for containers");
    } else if (!is_native(name) && !is_extended(name)) {
        bad_string(e, at, NULL, name, "doesn't follow extended resource name standard");
    }
}

static void check_huge_pages(struct field_errors *e, const struct at *at, const char *name,
                             const json_t *value) {
    int64_t page, amount = quantity_of(value);
    const char *size = name + strlen("hugepages-");
    if (quantity_parse(size, strlen(size), &page) && page > 0 && page % 1000 == 0 &&
        amount % page == 0)
        return;
    const char *text = strna(json_string_value(value));
    bad_string(e, at, NULL, text, "%s is not positive integer multiple of %s", text, name);
}

static bool is_compute(const char *name) {
    return streq(name, "cpu") || streq(name, "memory");
}

static void check_request(struct field_errors *e, const struct at *requests,
                          const struct at *limits, const char *name, const json_t *value) {
    const json_t *limit = at_get(limits, name);
    int64_t wants = quantity_of(value);
    if (!limit) {
        if (!can_overcommit(name))
            bad_required(e, limits, NULL, "Limit must be set for non overcommitable resources");
        return;
    }
    const char *text = strna(json_string_value(value)), *most = strna(json_string_value(limit));
    if (wants != quantity_of(limit) && !can_overcommit(name))
        bad_string(e, requests, NULL, text, "must be equal to %s limit of %s", name, most);
    else if (wants > quantity_of(limit))
        bad_string(e, requests, NULL, text, "must be less than or equal to %s limit of %s", name,
                   most);
}

static bool has_name(const json_t *claims, const char *name) {
    size_t i;
    json_t *claim;
    json_array_foreach((json_t *)claims, i,
                       claim) if (str_same(json_str(claim, "name"), name)) return true;
    return false;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "a, b": the names of the pod's claims, sorted. */
static void add_claim_names(struct str *out, const json_t *claims) {
    VEC(const char *) names = VEC_INIT;
    size_t i;
    json_t *claim;
    json_array_foreach((json_t *)claims, i, claim) if (!str_empty(json_str(claim, "name"))) *
        vec_push(&names) = json_str(claim, "name");
    if (names.len)
        qsort(names.p, names.len, sizeof *names.p, by_text);
    for (i = 0; i < names.len; i++)
        str_addf(out, "%s%s", i ? ", " : ": ", names.p[i]);
    if (!names.len)
        str_add(out, " which is empty");
    vec_done(&names);
}

static void check_claims(struct field_errors *e, const struct at *claims,
                         const json_t *pod_claims) {
    _cleanup_json_ json_t *seen = json_object();
    at_each(claim, claims) {
        const char *name = at_str(&claim, "name"), *request = at_str(&claim, "request");
        _cleanup_free_ char *key = *request ? xasprintf("%s/%s", name, request) : xstrdup(name);
        if (!*name) {
            bad_required(e, &claim, NULL, "");
            continue;
        }
        if (json_object_get(seen, name)) {
            bad_duplicate(e, &claim, NULL, name);
        } else {
            if (*request)
                check_name(e, &claim, "request", request, name_dns1123_label);
            const char *other;
            json_t *unused;
            if (json_object_get(seen, key))
                bad_duplicate(e, &claim, NULL, key);
            else if (!*request)
                json_object_foreach(seen, other, unused) if (str_starts(other, name) &&
                                                             other[strlen(name)] == '/')
                    bad_duplicate(e, &claim, NULL, name);
            json_object_set_new(seen, key, json_true());
        }
        if (!has_name(pod_claims, name)) {
            _cleanup_str_ struct str names = STR_INIT, path = STR_INIT;
            _cleanup_json_ json_t *shown = json_string(name);
            add_claim_names(&names, pod_claims);
            at_path(&claim, NULL, &path);
            field_error(e, FIELD_NOT_FOUND, str_get(&path), shown,
                        "must be one of the names in pod.spec.resourceClaims%s", str_get(&names));
        }
    }
}

void check_resources(struct field_errors *e, const struct at *resources, int of,
                     const json_t *pod_claims, bool any_huge_pages) {
    struct at limits = at_child(resources, "limits"), requests = at_child(resources, "requests");
    bool compute = false, huge = false;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)limits.v, name, value) {
        struct at at = at_key(&limits, name);
        check_resource_name(e, &at, name, of);
        check_quantity(e, &at, name, value);
        if (is_huge_page_resource(name) && !any_huge_pages)
            check_huge_pages(e, &at, name, value);
        huge |= is_huge_page_resource(name);
        compute |= is_compute(name);
    }
    json_object_foreach((json_t *)requests.v, name, value) {
        struct at at = at_key(&requests, name);
        check_resource_name(e, &at, name, of);
        check_quantity(e, &at, name, value);
        check_request(e, &requests, &limits, name, value);
        if (is_huge_page_resource(name) && !any_huge_pages)
            check_huge_pages(e, &at, name, value);
        huge |= is_huge_page_resource(name);
        compute |= is_compute(name);
    }
    if (huge && !compute)
        bad_forbidden(e, resources, NULL, "HugePages require cpu or memory");
    struct at claims = at_child(resources, "claims");
    check_claims(e, &claims, pod_claims);
}

/* --- defaults --- */

void default_resource_list(json_t *parent, const char *key) {
    json_t *list = json_object_get(parent, key), *value;
    const char *name;
    void *next;
    json_object_foreach_safe(list, next, name, value) {
        const char *text = strna(json_string_value(value));
        /* canonical text below thousandths ends in u or n */
        if (!str_ends(text, "u") && !str_ends(text, "n"))
            continue;
        _cleanup_str_ struct str rounded = STR_INIT;
        char milli[40];
        snprintf(milli, sizeof milli, "%" PRId64 "m", quantity_of(value));
        if (quantity_text(milli, strlen(milli), &rounded, NULL) == 0)
            set_string(list, name, str_get(&rounded));
    }
}

/* Sums of quantities keep the notation of what they are made of. */
static json_t *quantity_new(int64_t milli, bool binary) {
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    char text[40];
    size_t i = 0;
    if (binary && milli && milli % 1000 == 0) {
        for (milli /= 1000; i + 1 < ARRAY_LEN(suffixes) && milli % 1024 == 0; i++)
            milli /= 1024;
        snprintf(text, sizeof text, "%" PRId64 "%s", milli, suffixes[i]);
        return json_string(text);
    }
    _cleanup_str_ struct str canonical = STR_INIT;
    snprintf(text, sizeof text, "%" PRId64 "m", milli);
    if (quantity_text(text, strlen(text), &canonical, NULL) < 0)
        return json_string("0");
    return json_string(str_get(&canonical));
}

static bool is_binary(const json_t *quantity) {
    return str_ends(strna(json_string_value(quantity)), "i");
}

static void add_list(json_t *sum, const json_t *list) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)list, name, value) {
        const json_t *had = json_object_get(sum, name);
        if (had)
            json_object_set_new(
                sum, name, quantity_new(quantity_of(had) + quantity_of(value), is_binary(had)));
        else
            json_object_set(sum, name, value);
    }
}

static void max_list(json_t *most, const json_t *list) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)list, name, value) {
        const json_t *had = json_object_get(most, name);
        if (!had || quantity_of(value) > quantity_of(had))
            json_object_set(most, name, value);
    }
}

json_t *pod_containers_total(const json_t *spec, const char *which) {
    json_t *total = json_object(), *c;
    _cleanup_json_ json_t *sidecars = json_object(), *init = json_object();
    size_t i;
    json_array_foreach(json_object_get(spec, "containers"), i, c)
        add_list(total, json_object_get(json_object_get(c, "resources"), which));
    json_array_foreach(json_object_get(spec, "initContainers"), i, c) {
        const json_t *own = json_object_get(json_object_get(c, "resources"), which);
        if (str_same(json_str(c, "restartPolicy"), "Always")) {
            add_list(total, own);
            add_list(sidecars, own);
            max_list(init, sidecars);
        } else {
            _cleanup_json_ json_t *sum = json_object();
            add_list(sum, own);
            add_list(sum, sidecars);
            max_list(init, sum);
        }
    }
    max_list(total, init);
    return total;
}

void default_pod_resources(json_t *spec) {
    json_t *resources = json_object_get(spec, "resources"), *value;
    json_t *limits = json_object_get(resources, "limits");
    json_t *requests = json_object_get(resources, "requests");
    const char *name;
    if (!resources || !(json_object_size(limits) + json_object_size(requests)))
        return;
    _cleanup_json_ json_t *all_limits = pod_containers_total(spec, "limits");
    json_object_foreach(all_limits, name, value) if (is_huge_page_resource(name) &&
                                                     !json_object_get(requests, name) &&
                                                     !json_object_get(limits, name))
        json_object_set(object_at(resources, "limits"), name, value);
    limits = json_object_get(resources, "limits");
    if (!json_object_size(limits))
        return;
    _cleanup_json_ json_t *all_requests = pod_containers_total(spec, "requests");
    json_object_foreach(all_requests, name,
                        value) if (is_compute(name) &&
                                   !json_object_get(json_object_get(resources, "requests"), name))
        json_object_set(object_at(resources, "requests"), name, value);
    json_object_foreach(limits, name,
                        value) if ((is_compute(name) || is_huge_page_resource(name)) &&
                                   !json_object_get(json_object_get(resources, "requests"), name))
        json_object_set(object_at(resources, "requests"), name, value);
}

/* --- quality of service --- */

struct compute {
    int64_t cpu, memory;
};

static int64_t *compute_of(struct compute *c, const char *name) {
    return streq(name, "cpu") ? &c->cpu : streq(name, "memory") ? &c->memory : NULL;
}

/* Adds what is above zero; returns whether both cpu and memory were. */
static bool add_compute(struct compute *sum, const json_t *list) {
    bool cpu = false, memory = false;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)list, name, value) {
        int64_t *to = compute_of(sum, name), n = quantity_of(value);
        if (!to || n <= 0)
            continue;
        *to += n;
        cpu |= to == &sum->cpu;
        memory |= to == &sum->memory;
    }
    return cpu && memory;
}

const char *pod_qos(const json_t *pod) {
    struct compute requests = {0}, limits = {0};
    bool guaranteed = true;
    const json_t *spec = json_object_get(pod, "spec");
    const json_t *own = json_object_get(spec, "resources");
    if (own) {
        add_compute(&requests, json_object_get(own, "requests"));
        bool both = add_compute(&limits, json_object_get(own, "limits"));
        guaranteed = both || !json_object_size(json_object_get(own, "limits"));
    } else {
        static const char *const lists[] = {"containers", "initContainers"};
        for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
            size_t i;
            json_t *c;
            json_array_foreach(json_object_get(spec, lists[l]), i, c) {
                const json_t *r = json_object_get(c, "resources");
                add_compute(&requests, json_object_get(r, "requests"));
                guaranteed &= add_compute(&limits, json_object_get(r, "limits"));
            }
        }
    }
    if (!requests.cpu && !requests.memory && !limits.cpu && !limits.memory)
        return "BestEffort";
    bool equal = requests.cpu == limits.cpu && requests.memory == limits.memory;
    return guaranteed && equal ? "Guaranteed" : "Burstable";
}
