/** A configuration that cannot be used: the variables, what the message says, and what it must not repeat. */
export type WrongConfiguration = {
  readonly settings: Readonly<Record<string, string>>
  readonly key: string
  /** What to write instead. */
  readonly advice: RegExp
  /** How the value is repeated: a text in the message, or `hidden` of a secret, which no message holds. */
  readonly shown: string | { readonly hidden: string }
}

const row = (
  settings: WrongConfiguration['settings'],
  key: string,
  advice: RegExp,
  shown: WrongConfiguration['shown']
): WrongConfiguration => ({ settings, key, advice, shown })
/** One variable of a key; its value is repeated as it is. */
const one = (key: string, value: string, advice: RegExp, shown: WrongConfiguration['shown'] = `"${value}"`) =>
  row({ [`CARTWRIGHT__${key.toUpperCase().replaceAll('.', '__')}`]: value }, key, advice, shown)

const production = { NODE_ENV: 'production' }
const key = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldC0='
const otherKey = 'b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXI='
const POSTGRES = 'postgres://shop:s3cret@db.example.com/shop'
const mails = { CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@example.com' }
const stripe = (secret: string, more: object = {}) => ({
  CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: secret,
  CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: '[whsec_abc]',
  ...more
})

/** Settings that a stranger got wrong on the first day, among them those that only the start refused. */
export const reportedConfigurations: readonly WrongConfiguration[] = [
  row({ PORT: '80a' }, 'server.port', /a whole number from 0 to 65535/, '"80a"'),
  row({ PORT: '65536' }, 'server.port', /a whole number from 0 to 65535/, '65536'),
  row({ PORT: '8080.5' }, 'server.port', /a whole number from 0 to 65535/, '8080.5'),
  row({ PORT: '-1' }, 'server.port', /a whole number from 0 to 65535/, '-1'),
  row({ HOST: 'bad host' }, 'server.host', /an IP address or the name of a host/, '"bad host"'),
  row({ HOST: '999.1.1.1' }, 'server.host', /an IP address/, '"999.1.1.1"'),
  row({ HOST: 'http://0.0.0.0' }, 'server.host', /such as 0\.0\.0\.0/, '"http://0.0.0.0"'),
  row({ HOST: '0.0.0.0:8080' }, 'server.host', /the port belongs in server\.port/, '"0.0.0.0:8080"'),
  row({ NODE_ENV: 'staging' }, 'NODE_ENV', /production, development or test/, '"staging"'),
  row({ CARTWRIGHT_DATA: '' }, 'data', /must not be empty/, 'empty'),
  row({ DATABASE_URL: 'mysql://shop:s3cret@h/db' }, 'database.url', /look like postgres:\/\//, {
    hidden: 's3cret'
  }),
  row({ DATABASE_URL: 'db.example.com' }, 'database.url', /look like postgres:\/\//, {
    hidden: 'db.example.com'
  }),
  row({ REDIS_URL: 'localhost:6379' }, 'cache.url', /look like redis:\/\//, { hidden: 'localhost:6379' }),
  row({ CARTWRIGHT_PROT: '1' }, 'CARTWRIGHT_PROT', /unknown variable/, ''),
  row({ CARTWRIGHT__SERVER__PROT: '1' }, 'CARTWRIGHT__SERVER__PROT', /did you mean port/, 'server.prot'),
  one('log.level', 'loud', /fatal, error, warn, info, debug, silent/),
  one('shop.currency', 'EURO', /such as USD \(did you mean EUR\?\)/),
  one('shop.time_zone', 'Berlin', /such as Europe\/Berlin/),
  one('shop.demo', 'yes', /auto, on, off/),
  one('server.cors.origins', '*', /must be a list, such as \[one, two\]/),
  one('server.cors.origins', 'https://shop.example.com', /must be a list, such as \[one, two\]/),
  row(
    { CARTWRIGHT__SERVER__CORS__ORIGINS: '["*"]' },
    'server.cors.origins.0',
    /must be an origin.*https:\/\/shop\.example\.com/,
    '"*"'
  ),
  one('server.public_url', 'shop.example.com', /a URL such as https:\/\/shop\.example\.com/),
  row(
    { PORT: '8080', CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: '8080' },
    'server.diagnostics_port',
    /must not be server\.port/,
    '8080'
  ),
  one('server.private_metrics', 'true', /needs server\.diagnostics_port/, 'true'),
  one('modules.catalog.enabled', 'flase', /true or false/),
  one('notifications.smtp.url', 'mail.example.org', /look like smtps:\/\//, { hidden: 'mail.example.org' }),
  row(
    { ...mails, CARTWRIGHT__NOTIFICATIONS__SMTP__URL: 'https://user:s3cret@smtp.example.com' },
    'notifications.smtp.url',
    /look like smtps:\/\//,
    { hidden: 's3cret' }
  ),
  row(
    { CARTWRIGHT__NOTIFICATIONS__SMTP__URL: 'smtps://user:s3cret@smtp.example.com' },
    'notifications.from',
    /the address that mails come from, such as shop@example\.com/,
    'empty'
  ),
  one('notifications.from', 'shop', /an e-mail address such as shop@example\.com/),
  row(stripe('pk_live_mistaken'), 'payments.stripe.secret_key', /sk_\.\.\. or rk_\.\.\./, {
    hidden: 'mistaken'
  }),
  row(
    { CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: 'sk_live_lonely' },
    'payments.stripe.webhook_secrets',
    /signing secret of the endpoint, whsec_/,
    { hidden: 'lonely' }
  ),
  row(
    { ...production, CARTWRIGHT__PAYMENTS__SANDBOX__MODE: 'on' },
    'payments.sandbox.mode',
    /auto or off in production/,
    '"on"'
  ),
  one('payments.default_provider', 'stripe', /set that key/),
  row(
    { ...production, DATABASE_URL: POSTGRES },
    'secrets.keys',
    /CARTWRIGHT__SECRETS__KEYS=.*openssl rand -base64 32/,
    { hidden: 's3cret' }
  ),
  row(
    { CARTWRIGHT__SECRETS__KEYS: '[{ id: a, key: "" }]' },
    'secrets.keys.0.key',
    /32 random bytes.*openssl/,
    'empty'
  ),
  row(
    { CARTWRIGHT__SECRETS__KEYS: `[{ id: a, key: '${key}' }, { id: a, key: '${otherKey}' }]` },
    'secrets.keys.1.id',
    /not be the id of another key/,
    '"a"'
  ),
  row({ CARTWRIGHT_CONFIG: '/no/such/file.yaml' }, 'CARTWRIGHT_CONFIG', /create it/, '/no/such/file.yaml')
]

const issuer = (url: string, more = '') => `{ issuer: "${url}", audience: shop${more} }`

/** Beyond these. */
export const furtherConfigurations: readonly WrongConfiguration[] = [
  // Settings that contradict each other.
  row(
    { CARTWRIGHT__DATABASE__READ_ONLY: 'true' },
    'database.url',
    /must be set with database\.read_only/,
    'empty'
  ),
  ...Object.entries({
    DATABASE_URL: [`${POSTGRES}?target_session_attrs=primary`, 'database.url'],
    CARTWRIGHT__DATABASE__LISTEN_URL: [POSTGRES, 'database.listen_url'],
    CARTWRIGHT__DATABASE__REPLICA_URL: [POSTGRES, 'database.replica_url'],
    CARTWRIGHT__SHOP__DEMO: ['on', 'shop.demo']
  }).map(([name, [value = '', of = '']]) =>
    row(
      { DATABASE_URL: POSTGRES, CARTWRIGHT__DATABASE__READ_ONLY: 'true', [name]: value },
      of,
      /must not|must be empty/,
      value === 'on' ? '"on"' : { hidden: 's3cret' }
    )
  ),
  one('tracing.metrics_seconds', '10', /needs tracing\.url/, '10'),
  // Types and bounds.
  one('cart.lines_max', 'many', /a whole number from 1 to 10000/),
  one('cart.lines_max', '0', /a whole number from 1 to 10000/, '0'),
  one('cart.lines_max', '10001', /a whole number from 1 to 10000/, '10001'),
  one('cart.idle_days', '1.5', /a whole number from 1 to 3650/, '1.5'),
  one('database.pool_size', '201', /a whole number from 1 to 200/, '201'),
  one('database.statement_timeout_ms', '5s', /a whole number from 1 to 600000/),
  one('server.drain_seconds', '301', /a whole number from 0 to 300/, '301'),
  one('server.body_bytes_max', '1023', /a whole number from 1024/, '1023'),
  one('server.connections_max', '1', /a whole number from 10/, '1'),
  one('server.liveness_seconds', '1', /a whole number from 2 to 3600/, '1'),
  one('server.trust_proxy', 'yes', /true or false/),
  one('server.trust_proxy', '1', /true or false/, '1'),
  one('rate_limit.enabled', 'on', /true or false/),
  one('rate_limit.public_per_minute', 'none', /a whole number from 1/),
  one('catalog.page_cache_seconds', '-5', /a whole number from 0 to 86400/, '-5'),
  one('inventory.queue_max', '200001', /a whole number from 1 to 200000/, '200001'),
  one('webhooks.endpoints_max', '51', /a whole number from 1 to 50/, '51'),
  one('webhooks.retention_days', '6', /a whole number from 7 to 365/, '6'),
  one('orders.expiry.minutes', '0', /a whole number from 1 to 43200/, '0'),
  one('orders.unpaid_stock.buyer.share_percent', '101', /a whole number from 1 to 100/, '101'),
  one('notifications.smtp.timeout_seconds', '60', /a whole number from 1 to 20/, '60'),
  one('auth.password_length_min', '7', /a whole number from 8 to 128/, '7'),
  one('auth.access_token_seconds', '5', /a whole number from 10 to 86400/, '5'),
  // Choices.
  one('orders.customer_cancel', 'always', /unpaid, unshipped, never/),
  one('auth.registration', 'opn', /open, invite, closed \(did you mean open\?\)/),
  one('payments.capture', 'later', /automatic, manual/),
  one('payments.capture_before_expiry', 'void', /warn, capture/),
  one('reviews.moderation', 'after', /none, before/),
  one('server.docs', 'true', /auto, on, off/, '"true"'),
  one('environment', 'live', /development, production/),
  // Lists.
  one('auth.email_domains', 'example.com', /must be a list, such as \[one, two\]/),
  row({ CARTWRIGHT__AUTH__EMAIL_DOMAINS: '[1]' }, 'auth.email_domains.0', /must be text/, '1'),
  one('auth.email_domains', '["@example.com"]', /a domain such as example\.com, without @/, '"@example.com"'),
  one('auth.issuers', '[{', /valid YAML/, '"[{"'),
  one('auth.issuers', '[{ audience: shop }]', /is required/, ''),
  one('auth.issuers', `[${issuer('https://id.example.com', ', realm: a')}]`, /unknown key.*such as/, ''),
  one('auth.issuers', `[${issuer('id.example.com')}]`, /must be an address/, '"id.example.com"'),
  one('auth.issuers', `[${issuer('https://')}]`, /a URL such as https:/, '"https://"'),
  one(
    'auth.issuers',
    `[${issuer('https://a.example')}, ${issuer('https://a.example')}]`,
    /neither another/,
    '"https://a.example"'
  ),
  one('auth.issuers', `[${issuer('https://a.example', ', algorithms: [HS256]')}]`, /RS256/, '"HS256"'),
  one('payments.manual_methods', '[]', /at least 1 entry/, '[]'),
  one(
    'payments.manual_methods',
    '[on_account, on_account]',
    /same entry twice/,
    '["on_account","on_account"]'
  ),
  one('payments.manual_methods', '[cheque]', /bank_transfer, cash_on_delivery, on_account/, '"cheque"'),
  one('notifications.off', '[order_plcaed]', /did you mean order_placed\?/, '"order_plcaed"'),
  one('notifications.staff', '[ops]', /an e-mail address such as/, '"ops"'),
  one('server.development_hosts', '[Shop.test]', /in lower case and without a port/, '"Shop.test"'),
  one('server.development_peers', '[10.0.0.0/33]', /an IP address or network/, '"10.0.0.0/33"'),
  one(
    'server.security_contacts',
    '[security@example.com]',
    /mailto:security@example\.com/,
    '"security@example.com"'
  ),
  one('server.trusted_clients', '[s3cret-is-short]', /32 to 512 visible ASCII/, { hidden: 's3cret' }),
  one(
    'http.private_hosts',
    '["https://erp.internal"]',
    /in lower case and without a port/,
    '"https://erp.internal"'
  ),
  // Addresses and texts.
  one('notifications.reply_to', 'help@', /an e-mail address such as/),
  one('notifications.locale', 'german', /such as de or de-CH/),
  one('notifications.storefront_url', 'shop.example.com', /a URL such as https:/),
  one('notifications.links.reset_password', '/reset?token={token}', /\{token\} after a #/),
  one('notifications.links.order', '/orders', /must contain \{id\}/),
  one('server.public_url', 'ftp://shop.example.com', /a URL such as https:/),
  one('payments.sandbox.url', 'localhost:8090', /a URL such as https:/),
  one('payments.stripe.url', 'stripe', /a URL such as https:/),
  row(
    stripe('sk_live_x', { CARTWRIGHT__PAYMENTS__STRIPE__PUBLISHABLE_KEY: 'sk_live_mistaken' }),
    'payments.stripe.publishable_key',
    /pk_\.\.\./,
    { hidden: 'mistaken' }
  ),
  row(
    stripe('sk_live_x', { CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: '[we_mistaken]' }),
    'payments.stripe.webhook_secrets.0',
    /whsec_\.\.\./,
    { hidden: 'mistaken' }
  ),
  // Settings that contradict each other.
  row(
    { ...production, CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'sandbox' },
    'payments.default_provider',
    /auto or another provider in production/,
    '"sandbox"'
  ),
  row(
    { CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'sandbox', CARTWRIGHT__PAYMENTS__SANDBOX__MODE: 'off' },
    'payments.default_provider',
    /while payments\.sandbox\.mode is off/,
    '"sandbox"'
  ),
  row(
    {
      CARTWRIGHT__SERVER__PUBLIC_URL: 'https://a.example',
      CARTWRIGHT__AUTH__ISSUERS: `[${issuer('https://a.example')}]`
    },
    'auth.issuers.0.issuer',
    /neither another issuer of the list nor server\.public_url/,
    '"https://a.example"'
  ),
  row(
    { CARTWRIGHT__SECRETS__KEYS: `[{ id: a, key: '${key}' }, { id: b, key: '${key}' }]` },
    'secrets.keys.1.key',
    /not be another key again.*openssl rand/,
    { hidden: key }
  ),
  row(
    { CARTWRIGHT_ADMIN_EMAIL: 'a@example.com' },
    'auth.admin_password',
    /must be set together with auth\.admin_email/,
    'empty'
  ),
  row(
    { CARTWRIGHT_ADMIN_PASSWORD: 'seven quiet tubas' },
    'auth.admin_email',
    /must be set together with auth\.admin_password/,
    'empty'
  ),
  row(
    { CARTWRIGHT_ADMIN_EMAIL: 'admin', CARTWRIGHT_ADMIN_PASSWORD: 'seven quiet tubas' },
    'auth.admin_email',
    /an e-mail address such as/,
    '"admin"'
  ),
  row(
    { CARTWRIGHT_ADMIN_EMAIL: 'a@example.com', CARTWRIGHT_ADMIN_PASSWORD: 'password1234' },
    'auth.admin_password',
    /not be a common password/,
    { hidden: 'password1234' }
  ),
  row(
    { CARTWRIGHT_ADMIN_EMAIL: 'a@example.com', CARTWRIGHT_ADMIN_PASSWORD: 'tubas' },
    'auth.admin_password',
    /at least 12 characters/,
    { hidden: 'tubas' }
  ),
  // Keys.
  row(
    { CARTWRIGHT__CART__LINE_MAX: '5' },
    'CARTWRIGHT__CART__LINE_MAX',
    /did you mean lines_max/,
    'cart.line_max'
  ),
  row(
    { CARTWRIGHT__MODULES__KART__ENABLED: 'true' },
    'CARTWRIGHT__MODULES__KART__ENABLED',
    /did you mean cart/,
    'kart'
  ),
  row({ CARTWRIGHT__CART: '5' }, 'cart', /an object, with keys such as line_quantity_max/, '5'),
  row(
    { CARTWRIGHT__MODULES__PRICING__ENABLED: 'false' },
    'modules.pricing.enabled',
    /requires module pricing.*: true or/,
    'false'
  )
]
