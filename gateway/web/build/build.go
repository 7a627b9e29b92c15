package main

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

var errBundle = errors.New("the bundle does not build")

// targets are the oldest browsers the page promises to work in.
var targets = []api.Engine{
	{Name: api.EngineChrome, Version: "105"},
	{Name: api.EngineFirefox, Version: "115"},
	{Name: api.EngineSafari, Version: "15.6"},
}

// build returns every file of dist by its slash-separated name.
func build(root string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	page, err := bundle(root, map[string]string{"page": "page/page.ts", "style": "page/style.css"}, "assets/[name]-[hash]", files)
	if err != nil {
		return nil, err
	}
	if _, err := bundle(root, map[string]string{"client": "client/index.ts"}, "[name]", files); err != nil {
		return nil, err
	}
	icon, err := hashed(root, "page/icon.svg", files)
	if err != nil {
		return nil, err
	}
	if files["assets/literata-license.txt"], err = os.ReadFile(filepath.Join(root, "page/fonts/OFL.txt")); err != nil {
		return nil, err
	}

	index, err := os.ReadFile(filepath.Join(root, "page/index.html"))
	if err != nil {
		return nil, err
	}
	replace := strings.NewReplacer(
		"{{script}}", "/"+page["page/page.ts"],
		"{{style}}", "/"+page["page/style.css"],
		"{{icon}}", "/"+icon,
		"{{font}}", "/"+named(files, "assets/literata-latin-", "assets/literata-latin-ext-"),
	)
	files["index.html"] = []byte(replace.Replace(string(index)))
	return files, nil
}

// bundle runs esbuild over the entries, puts every output into files, and returns the output name of each entry point.
func bundle(root string, entries map[string]string, names string, files map[string][]byte) (map[string]string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	var points []api.EntryPoint
	for out, in := range entries {
		points = append(points, api.EntryPoint{InputPath: in, OutputPath: out})
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       abs,
		EntryPointsAdvanced: points,
		Bundle:              true,
		Format:              api.FormatESModule,
		Charset:             api.CharsetUTF8,
		Engines:             targets,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		LegalComments:       api.LegalCommentsNone,
		Loader:              map[string]api.Loader{".woff2": api.LoaderFile},
		EntryNames:          names,
		AssetNames:          "assets/[name]-[hash]",
		Outdir:              "dist",
		Metafile:            true,
		Write:               false,
		LogLevel:            api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		lines := api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return nil, fmt.Errorf("%w:\n%s", errBundle, strings.Join(lines, ""))
	}
	for _, f := range result.OutputFiles {
		rel, err := filepath.Rel(filepath.Join(abs, "dist"), f.Path)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(rel)] = f.Contents
	}
	return entryOutputs(result.Metafile)
}

// entryOutputs reads from esbuild's metafile which output belongs to which entry point.
func entryOutputs(metafile string) (map[string]string, error) {
	var meta struct {
		Outputs map[string]struct {
			EntryPoint string `json:"entryPoint"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	outputs := make(map[string]string)
	for name, o := range meta.Outputs {
		if o.EntryPoint != "" {
			outputs[o.EntryPoint] = strings.TrimPrefix(name, "dist/")
		}
	}
	return outputs, nil
}

// hashed copies one file under a name that holds a hash of its content.
func hashed(root, source string, files map[string][]byte) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	ext := path.Ext(source)
	name := fmt.Sprintf("assets/%s-%s%s", strings.TrimSuffix(path.Base(source), ext), base32.StdEncoding.EncodeToString(sum[:5]), ext)
	files[name] = content
	return name, nil
}

// named finds the one output that starts with prefix and not with any of the others.
func named(files map[string][]byte, prefix string, not ...string) string {
next:
	for name := range files {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		for _, n := range not {
			if strings.HasPrefix(name, n) {
				continue next
			}
		}
		return name
	}
	return ""
}
