package engine

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// BuiltIns judges objects of kinds that need no CRD.
type BuiltIns interface {
	Knows(gvk schema.GroupVersionKind) bool
	// Store returns what would be stored of an object that is created, or that
	// takes the place of old, and why it is refused.
	Store(gvk schema.GroupVersionKind, in, old map[string]interface{}) (out map[string]interface{}, denied string, err error)
}

// Plain reads JSON as the API server does: whole numbers stay whole.
func Plain(raw []byte) (map[string]interface{}, error) {
	var out object
	return out, utiljson.Unmarshal(raw, &out)
}

var uid = map[string]interface{}{
	"resourceVersion": "1", "uid": "00000000-0000-4000-8000-000000000000", "creationTimestamp": "2026-01-01T00:00:00Z",
}

func (o *oracle) builtIn(gvk schema.GroupVersionKind, r request, a *answer) {
	placed(r.Object)
	stored, denied, err := o.builtIns.Store(gvk, first(r.Old, r.Object), nil)
	if r.Old == nil {
		if settle(a, "validate", denied, err) || stored != nil {
			a.setResult(r.Object, bare(stored))
		}
		return
	}
	if denied != "" || err != nil {
		settle(a, "old", denied, err)
		return
	}
	live := bare(stored)
	for key, value := range uid {
		live["metadata"].(object)[key] = value
	}
	allocate(live)
	merged, err := threeWay(r.Old, r.Object, live)
	if err != nil {
		settle(a, "merge", "", err)
		return
	}
	after, denied, err := o.builtIns.Store(gvk, merged, live)
	if !settle(a, "validate", denied, err) {
		return
	}
	noop := reflect.DeepEqual(bare(after), bare(live))
	a.NoOp = &noop
	a.setResult(r.Object, bare(after))
}

func first(objects ...object) object {
	for _, one := range objects {
		if one != nil {
			return one
		}
	}
	return nil
}

// placed gives an object a namespace, as the URL of the request does.
func placed(obj object) {
	if md, ok := obj["metadata"].(object); ok && md["namespace"] == nil {
		md["namespace"] = "default"
	}
}

// bare drops what is not in a manifest: the status, and what each stored object has of its own.
func bare(obj object) object {
	out := runtime.DeepCopyJSON(obj)
	delete(out, "status")
	if md, ok := out["metadata"].(object); ok {
		for _, key := range []string{"generation", "resourceVersion", "uid", "creationTimestamp"} {
			delete(md, key)
		}
	}
	return out
}

// allocate gives a Service the addresses that the API server would, and binds a claim.
func allocate(obj object) {
	if obj["kind"] == "PersistentVolumeClaim" {
		obj["status"] = object{"phase": "Bound"}
	}
	spec, ok := obj["spec"].(object)
	if obj["kind"] != "Service" || !ok || spec["type"] == "ExternalName" {
		return
	}
	if spec["clusterIP"] == nil {
		spec["clusterIP"] = "10.96.0.10"
	}
	spec["clusterIPs"] = []interface{}{spec["clusterIP"]}
	spec["ipFamilies"] = []interface{}{"IPv4"}
	spec["ipFamilyPolicy"] = "SingleStack"
}
