// Package conform holds JSON values against the schemas of an OpenAPI
// document. It knows the words of JSON Schema that package openapi writes
// (type, properties, required, additionalProperties, items, enum, anyOf,
// $ref) and no more; a word that it does not know is an error, so that
// nothing is believed unchecked. It is for tests.
package conform
