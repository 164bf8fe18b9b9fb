{{- define "mayfly.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* The release's name where it has the chart's in it, as in `helm install mayfly`, else both: another chart of the release has other names. */}}
{{- define "mayfly.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "mayfly.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "mayfly.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Of the nodes alone: what selects by them never meets the pods of a job. They never change, as a Deployment's selector cannot. */}}
{{- define "mayfly.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mayfly.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mayfly.commonLabels" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: mayfly
app.kubernetes.io/version: {{ default .Chart.AppVersion .Values.image.tag | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- if .Values.commonLabels }}
{{ toYaml .Values.commonLabels }}
{{- end }}
{{- end }}

{{- define "mayfly.labels" -}}
{{ include "mayfly.selectorLabels" . }}
{{ include "mayfly.commonLabels" . }}
{{- end }}

{{- define "mayfly.image" -}}
image: "{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "mayfly.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* What every pod has, whatever it runs. */}}
{{- define "mayfly.pod" -}}
automountServiceAccountToken: false
# Variables for each Service of the namespace: Mayfly needs none of them.
enableServiceLinks: false
{{- if .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml .Values.imagePullSecrets | nindent 2 }}
{{- end }}
{{- if .Values.priorityClassName }}
priorityClassName: {{ .Values.priorityClassName }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- if .Values.nodeSelector }}
nodeSelector:
  {{- toYaml .Values.nodeSelector | nindent 2 }}
{{- end }}
{{- if .Values.tolerations }}
tolerations:
  {{- toYaml .Values.tolerations | nindent 2 }}
{{- end }}
{{- end }}

{{- define "mayfly.notOurs" -}}
{{- if contains (printf " %s " .) " MAYFLY_BASE_URL MAYFLY_STORE MAYFLY_STORE_FILE MAYFLY_STORE_DURABILITY MAYFLY_STORE_POOL_SIZE MAYFLY_DATA_DIR MAYFLY_ROOT_KEYS_FILE MAYFLY_TRUSTED_PROXIES MAYFLY_INTERNAL_HOST MAYFLY_INTERNAL_PORT " }}
{{- fail (printf "Leave %s out of the settings: the chart sets it by a value of its own." .) }}
{{- end }}
{{- end }}

{{- /* Settings, mounts and volumes of everything that opens the store: all that the operator has made before, and nothing of this chart. */}}
{{- define "mayfly.env" -}}
- name: MAYFLY_BASE_URL
  value: {{ required "Set baseUrl to what people reach Mayfly at, such as https://secrets.example.com." .Values.baseUrl | quote }}
- name: MAYFLY_STORE_FILE
  value: /run/mayfly-store/url
- name: MAYFLY_STORE_DURABILITY
  value: {{ .Values.store.durability | quote }}
- name: MAYFLY_STORE_POOL_SIZE
  value: {{ .Values.store.poolSize | quote }}
{{- if .Values.trustedProxies }}
- name: MAYFLY_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- include "mayfly.notOurs" $name }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name, $from := .Values.secretSettings }}
{{- include "mayfly.notOurs" $name }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $from.secretName }}
      key: {{ $from.secretKey }}
{{- end }}
{{- if .Values.extraEnv }}
{{ toYaml .Values.extraEnv }}
{{- end }}
{{- end }}

{{- define "mayfly.hasFiles" -}}
{{- if or .Values.brand .Values.plans .Values.rateLimits }}yes{{ end }}
{{- end }}

{{- define "mayfly.mounts" -}}
- name: data
  mountPath: /var/lib/mayfly
- name: store
  mountPath: /run/mayfly-store
  readOnly: true
# The runtime loads its native code from a file here.
- name: tmp
  mountPath: /tmp
{{- if .Values.extraVolumeMounts }}
{{ toYaml .Values.extraVolumeMounts }}
{{- end }}
{{- end }}

{{- define "mayfly.volumes" -}}
- name: store
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ required "Set store.secretName to a Secret with the postgres:// address." .Values.store.secretName }}
          items:
            - key: {{ .Values.store.secretKey }}
              path: url
      {{- if .Values.store.caKey }}
      - secret:
          name: {{ default .Values.store.secretName .Values.store.caSecretName }}
          items:
            - key: {{ .Values.store.caKey }}
              path: ca.crt
      {{- end }}
- name: data
  emptyDir:
    medium: Memory
    sizeLimit: 64Mi
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- if .Values.extraVolumes }}
{{ toYaml .Values.extraVolumes }}
{{- end }}
{{- end }}
