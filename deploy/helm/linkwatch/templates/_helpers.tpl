{{- define "linkwatch.name" -}}
{{- if contains "linkwatch" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-linkwatch" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "linkwatch.selector" -}}
app.kubernetes.io/name: linkwatch
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "linkwatch.labels" -}}
{{ include "linkwatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "linkwatch.metadata" -}}
name: {{ include "linkwatch.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "linkwatch.labels" . | nindent 2 }}
{{- end }}
