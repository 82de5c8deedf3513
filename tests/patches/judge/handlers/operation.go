// Package handlers holds what the API server's package of this name reads a JSON patch as: messages about it name the package.
package handlers

type jsonPatchOp struct {
	Op    string      `json:"op"`
	Path  string      `json:"path"`
	From  string      `json:"from"`
	Value interface{} `json:"value"`
}

// Operations is what a JSON patch is decoded into before it is applied.
func Operations() interface{} { return &[]jsonPatchOp{} }
