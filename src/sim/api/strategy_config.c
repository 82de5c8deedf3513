/* ConfigMaps, Secrets and ServiceAccounts. */
#include "base/base64.h"
#include "sim/api/strategy_kinds.h"

enum { DATA_MOST = 1 << 20 }; /* bytes of all values */

/* --- ConfigMaps --- */

/* The number of bytes in base64 text: what canonical text decodes to. */
static size_t decoded_size(const json_t *text) {
    const char *s = strna(json_string_value(text));
    size_t len = strlen(s), pad = (len && s[len - 1] == '=') + (len > 1 && s[len - 2] == '=');
    return len / 4 * 3 - pad;
}

/* Immutable data stays, and stays immutable. */
static void check_immutable_data(struct strategy_call *c, const struct at *root,
                                 const char *const *keys) {
    if (!json_is_true(json_object_get(c->old, "immutable")))
        return;
    if (!at_bool(root, "immutable"))
        bad_forbidden(&c->errors, root, "immutable", "field is immutable when `immutable` is set");
    for (size_t i = 0; keys[i]; i++)
        if (!same_value(at_get(root, keys[i]), json_object_get(c->old, keys[i])))
            bad_forbidden(&c->errors, root, keys[i], "field is immutable when `immutable` is set");
}

static void check_config_map(struct strategy_call *c) {
    static const char *const keys[] = {"data", "binaryData", NULL};
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at data = at_child(&root, "data"), binary = at_child(&root, "binaryData");
    const char *key;
    json_t *value;
    size_t size = 0;
    if (c->old)
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
    check_immutable_data(c, &root, keys);
    check_meta(e, &meta, true, name_dns1123_subdomain);
    json_object_foreach((json_t *)data.v, key, value) {
        struct at at = at_key(&data, key);
        check_name(e, &at, NULL, key, name_config_key);
        if (at_has(&binary, key))
            bad_string(e, &at, NULL, key, "duplicate of key present in binaryData");
        size += json_string_length(value);
    }
    json_object_foreach((json_t *)binary.v, key, value) {
        struct at at = at_key(&binary, key);
        check_name(e, &at, NULL, key, name_config_key);
        size += decoded_size(value);
    }
    struct at nowhere = at_key(&root, ""); /* so the server says it: "[]" */
    if (size > DATA_MOST)
        bad_too_long(e, &nowhere, NULL, DATA_MOST);
}

const struct strategy_ops strategy_config_maps = {.check = check_config_map};

/* --- Secrets --- */

static void default_secret(json_t *obj) {
    const char *key;
    json_t *value, *plain = json_object_get(obj, "stringData");
    json_object_foreach(plain, key, value) {
        _cleanup_str_ struct str text = STR_INIT;
        base64_encode(&text, json_string_value(value), json_string_length(value));
        set_string(object_at(obj, "data"), key, str_get(&text));
    }
    json_object_del(obj, "stringData");
    default_string(obj, "type", "Opaque");
}

static void prepare_secret(struct strategy_call *c) {
    if (c->old && str_empty(json_str(c->obj, "type")))
        copy_member(c->obj, c->old, "type");
}

static void require_key(struct field_errors *e, const struct at *data, const char *key) {
    struct at at = at_key(data, key);
    if (!at.v)
        bad_required(e, &at, NULL, "");
}

static void check_docker_config(struct field_errors *e, const struct at *data, const char *key) {
    struct at at = at_key(data, key);
    require_key(e, data, key);
    if (!at.v)
        return;
    _cleanup_free_ char *text = NULL;
    size_t len;
    const char *encoded = strna(json_string_value(at.v)), *hidden = "<secret contents redacted>";
    if (!base64_decode(encoded, strlen(encoded), &text, &len))
        return;
    _cleanup_json_ json_t *parsed = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    if (len == 0)
        bad_string(e, &at, NULL, hidden, "unexpected end of JSON input");
    else if (!parsed)
        bad_string(e, &at, NULL, hidden, "invalid character '%c' looking for beginning of value",
                   text[0]);
    else if (!json_is_object(parsed) && !json_is_null(parsed))
        bad_string(e, &at, NULL, hidden,
                   "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                   json_is_array(parsed)    ? "array"
                   : json_is_string(parsed) ? "string"
                   : json_is_number(parsed) ? "number"
                                            : "bool");
}

static void check_secret_type(struct field_errors *e, const struct at *root) {
    struct at data = at_child(root, "data"), meta = at_child(root, "metadata");
    struct at annotations = at_child(&meta, "annotations");
    const char *type = at_str(root, "type");
    if (streq(type, "kubernetes.io/service-account-token")) {
        struct at account = at_key(&annotations, "kubernetes.io/service-account.name");
        if (!*strna(json_string_value(account.v)))
            bad_required(e, &account, NULL, "");
    } else if (streq(type, "kubernetes.io/dockercfg")) {
        check_docker_config(e, &data, ".dockercfg");
    } else if (streq(type, "kubernetes.io/dockerconfigjson")) {
        check_docker_config(e, &data, ".dockerconfigjson");
    } else if (streq(type, "kubernetes.io/basic-auth")) {
        if (!at_has(&data, "username") && !at_has(&data, "password")) {
            require_key(e, &data, "username");
            require_key(e, &data, "password");
        }
    } else if (streq(type, "kubernetes.io/ssh-auth")) {
        struct at key = at_key(&data, "ssh-privatekey");
        if (!*strna(json_string_value(key.v)))
            bad_required(e, &key, NULL, "");
    } else if (streq(type, "kubernetes.io/tls")) {
        require_key(e, &data, "tls.crt");
        require_key(e, &data, "tls.key");
    }
}

static void check_secret(struct strategy_call *c) {
    static const char *const keys[] = {"data", NULL};
    struct field_errors *e = &c->errors;
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    struct at data = at_child(&root, "data"), type = at_child(&root, "type");
    const char *key;
    json_t *value;
    size_t size = 0;
    if (c->old) {
        check_meta_update(e, &meta, json_object_get(c->old, "metadata"));
        check_immutable(e, &type, json_object_get(c->old, "type"), NULL);
    }
    check_immutable_data(c, &root, keys);
    check_meta(e, &meta, true, name_dns1123_subdomain);
    json_object_foreach((json_t *)data.v, key, value) {
        struct at at = at_key(&data, key);
        check_name(e, &at, NULL, key, name_config_key);
        size += decoded_size(value);
    }
    if (size > DATA_MOST)
        bad_too_long(e, &data, NULL, DATA_MOST);
    check_secret_type(e, &root);
}

const struct strategy_ops strategy_secrets = {
    .defaults = default_secret,
    .prepare = prepare_secret,
    .check = check_secret,
};

/* --- ServiceAccounts --- */

/* Of its secrets only the names mean something. */
static void prepare_account(struct strategy_call *c) {
    json_t *secrets = json_object_get(c->obj, "secrets");
    for (size_t i = 0; i < json_array_size(secrets); i++) {
        const char *name = json_str(json_array_get(secrets, i), "name");
        json_array_set_new(secrets, i,
                           str_empty(name) ? json_object() : json_pack("{s:s}", "name", name));
    }
}

static void check_account(struct strategy_call *c) {
    struct at root = at_root(c->obj), meta = at_child(&root, "metadata");
    if (c->old)
        check_meta_update(&c->errors, &meta, json_object_get(c->old, "metadata"));
    check_meta(&c->errors, &meta, true, name_dns1123_subdomain);
}

const struct strategy_ops strategy_service_accounts = {.prepare = prepare_account,
                                                       .check = check_account};
