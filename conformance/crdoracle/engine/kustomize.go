package engine

import (
	"bytes"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomize says which objects `kustomize build` makes of a folder: its files
// by name, a kustomization.yaml among them.
func kustomize(r request) answer {
	a := answer{ID: r.ID, Op: r.Op, Pruned: []string{}, Drift: []string{}}
	objects, err := build(r.Files)
	a.Value = objects
	settle(&a, "kustomize", "", err)
	return a
}

// build reads again what kustomize prints, for that is what is applied.
func build(files map[string]string) ([]object, error) {
	const folder = "/manifests"
	fs := filesys.MakeFsInMemory()
	for name, text := range files {
		if err := fs.WriteFile(folder+"/"+name, []byte(text)); err != nil {
			return nil, err
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, folder)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return readObjects(bytes.NewReader(text))
}
