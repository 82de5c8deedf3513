/* The service account of the pod that we run in ("in-cluster" configuration). */
#ifndef KUBE_CONFIG_ACCOUNT_H
#define KUBE_CONFIG_ACCOUNT_H

#include "kube/config.h"

/* We seem to run in a pod: the kubelet's variables are there. */
bool kube_account_present(const struct kube_env *env);

/* Fills server, CA, token file and namespace of an empty config. Token and CA stay files, because
 * the kubelet rotates them. Without a ca.crt the system's authorities are used, as client-go does.
 * Fails when there is no token to read. */
int kube_account_fill(const struct kube_env *env, struct kube_config *config, struct err *err);

#endif
