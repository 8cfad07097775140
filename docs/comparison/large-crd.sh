#!/bin/sh
# Prints a CustomResourceDefinition of more than 10,000 lines: large-crd.sh v1|v2|mine
# v2 has another description at the first field and one more field at the end; mine has comments and another description at the last field.
set -eu
first="The first field." last="The last field." comment= more=
case $1 in
    v1) ;;
    v2) first="The very first field." more=yes ;;
    mine) last="The last field, as we use it." comment="  # ours" ;;
esac
cat <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: larges.example.com$comment
spec:
  group: example.com
  names: {kind: Large, plural: larges}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
END
awk -v first="$first" -v last="$last" -v comment="$comment" -v more="$more" 'BEGIN {
    for (i = 1; i <= 3330; i++) {
        text = i == 1 ? first : i == 3330 ? last : "Field number " i "."
        printf "          field%d:%s\n            description: %s\n            type: string\n", i, i % 333 ? "" : comment, text
    }
    if (more) printf "          more:\n            description: New in this release.\n            type: string\n"
}'
