package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"

	"oracle/crdoracle/engine"
)

// validate says what Kubernetes has against a new object, or against one that
// takes the place of old.
type validate func(obj, old runtime.Object) field.ErrorList

// of makes one of the two functions that Kubernetes has for a type.
func of[T runtime.Object](create func(T) field.ErrorList, update func(T, T) field.ErrorList) validate {
	return func(obj, old runtime.Object) field.ErrorList {
		if old == nil {
			return create(obj.(T))
		}
		return update(obj.(T), old.(T))
	}
}

var known = map[schema.GroupVersionKind]validate{
	kind("", "ConfigMap"):     of(validation.ValidateConfigMap, validation.ValidateConfigMapUpdate),
	kind("", "ResourceQuota"): of(validation.ValidateResourceQuota, validation.ValidateResourceQuotaUpdate),
	kind("", "Service"):       of(createService, validation.ValidateServiceUpdate),
	kind("", "PersistentVolumeClaim"): of(
		func(obj *core.PersistentVolumeClaim) field.ErrorList {
			return validation.ValidatePersistentVolumeClaim(obj, validation.PersistentVolumeClaimSpecValidationOptions{})
		},
		func(obj, old *core.PersistentVolumeClaim) field.ErrorList {
			return validation.ValidatePersistentVolumeClaimUpdate(obj, old, validation.PersistentVolumeClaimSpecValidationOptions{})
		}),
	kind("apps", "Deployment"): of(
		func(obj *apps.Deployment) field.ErrorList {
			return appsvalidation.ValidateDeployment(obj, validation.PodValidationOptions{})
		},
		func(obj, old *apps.Deployment) field.ErrorList {
			return appsvalidation.ValidateDeploymentUpdate(obj, old, validation.PodValidationOptions{})
		}),
	kind("networking.k8s.io", "NetworkPolicy"): of(
		func(obj *networking.NetworkPolicy) field.ErrorList {
			return networkingvalidation.ValidateNetworkPolicy(obj, networkingvalidation.NetworkPolicyValidationOptions{})
		},
		func(obj, old *networking.NetworkPolicy) field.ErrorList {
			return networkingvalidation.ValidateNetworkPolicyUpdate(obj, old, networkingvalidation.NetworkPolicyValidationOptions{})
		}),
}

func kind(group, name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}
}

// createService sets clusterIPs as the strategy does before the validation.
func createService(obj *core.Service) field.ErrorList {
	if obj.Spec.ClusterIP != "" && len(obj.Spec.ClusterIPs) == 0 {
		obj = obj.DeepCopy()
		obj.Spec.ClusterIPs = []string{obj.Spec.ClusterIP}
	}
	return validation.ValidateServiceCreate(obj)
}

// builtIns judges objects of Kubernetes' own kinds by its own decoder, defaults and validation.
type builtIns struct{ decoder runtime.Decoder }

func newBuiltIns() engine.BuiltIns {
	options := kjson.SerializerOptions{Strict: true}
	return builtIns{kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, legacyscheme.Scheme, legacyscheme.Scheme, options)}
}

func (builtIns) Knows(gvk schema.GroupVersionKind) bool { return known[gvk] != nil }

func (b builtIns) Store(gvk schema.GroupVersionKind, in, old map[string]interface{}) (map[string]interface{}, string, error) {
	obj, denied, err := b.internal(in)
	if denied != "" || err != nil {
		return nil, denied, err
	}
	var before runtime.Object
	if old != nil {
		if before, denied, err = b.internal(old); denied != "" || err != nil {
			return nil, denied, err
		}
	}
	if errs := known[gvk](obj, before).ToAggregate(); errs != nil {
		denied = errs.Error()
	}
	versioned, err := legacyscheme.Scheme.ConvertToVersion(obj, gvk.GroupVersion())
	if err != nil {
		return nil, "", err
	}
	raw, err := json.Marshal(versioned)
	if err != nil {
		return nil, "", err
	}
	stored, err := engine.Plain(raw)
	return stored, denied, err
}

// internal decodes as strictly as the API server does for `kubectl apply`, and fills in the defaults.
func (b builtIns) internal(in map[string]interface{}) (runtime.Object, string, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, "", err
	}
	obj, _, err := b.decoder.Decode(raw, nil, nil)
	if err != nil {
		return nil, err.Error(), nil
	}
	legacyscheme.Scheme.Default(obj)
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(obj, runtime.InternalGroupVersioner)
	return internal, "", err
}
