/** Values of an operator. */
export const needed = {
  baseUrl: 'https://secrets.example.com',
  store: { secretName: 'store-of-ours' },
  rootKeys: { secretName: 'keys-of-ours' },
};

/** A value for everything. */
export const everything = {
  ...needed,
  store: { secretName: 'store-of-ours', caKey: 'ca.crt', caSecretName: 'database-ca' },
  imagePullSecrets: [{ name: 'registry' }],
  autoscaling: { enabled: true },
  settings: { MAYFLY_SIGNUP: 'closed' },
  secretSettings: { MAYFLY_SMTP_URL: { secretName: 'mail', secretKey: 'url' } },
  brand: { name: 'Example Vault' },
  plans: { identity: { maxDomains: 20 } },
  rateLimits: { create: { account: { limit: 2_400_000, burst: 2000 } } },
  extraEnv: [{ name: 'TZ', value: 'UTC' }],
  extraVolumes: [{ name: 'logo', configMap: { name: 'logo' } }],
  extraVolumeMounts: [{ name: 'logo', mountPath: '/etc/logo' }],
  trustedProxies: '10.0.0.0/8',
  ingress: { enabled: true, className: 'public', host: 'secrets.example.com', tlsSecretName: 'certificate' },
  metrics: { enabled: true, podMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: {} }],
    egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }],
  },
  serviceAccount: { create: true, annotations: { 'example.com/role': 'none' } },
  commonLabels: { team: 'operations' },
  podLabels: { tier: 'web' },
  podAnnotations: { 'example.com/restart': '1' },
  priorityClassName: 'high',
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};
