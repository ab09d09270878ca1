import { Type } from '../../kernel/schema.ts'
import {
  integerSetting,
  type SettingsOf,
  secretSetting,
  settingsSection,
  textSetting
} from '../../kernel/settings.ts'

export const paymentsSettings = settingsSection('Payments.', {
  default_provider: textSetting(
    'Payment provider when the client names none. `auto`: one that takes payments itself, such as Stripe, else the sandbox, else a manual one.',
    'auto'
  ),
  retired_providers: Type.Array(Type.String({ minLength: 1 }), {
    description:
      'Payment providers that take no new payments. They still settle their existing ones, so that they can be removed afterwards.',
    default: [],
    uniqueItems: true
  }),
  capture: Type.Enum(['automatic', 'manual'], {
    description:
      'When authorized payments are captured. `automatic`: immediately; `manual`: when an administrator captures them.',
    default: 'automatic'
  }),
  capture_before_expiry: Type.Enum(['warn', 'capture'], {
    description:
      'What happens a day before an authorization expires. `warn`: an event and a log line; `capture`: the payment is captured as well.',
    default: 'warn'
  }),
  intents_per_minute: integerSetting(
    'Payments started per minute and customer; for guests, per client address.',
    30
  ),
  failed_attempts_per_hour: integerSetting(
    'Failed payment attempts per hour of one network, or for one order, before further ones are refused.',
    10,
    1,
    1_000
  ),
  callback_retention_days: integerSetting(
    'Days after which the bytes of callbacks are deleted, with the last ones of their month. Quarantined callbacks can be retried until then.',
    90,
    30,
    3_650
  ),
  refunds: settingsSection(
    'Limits on refunds of one order, in minor units of its currency, such as cents. Canceling a paid order counts as a refund.',
    {
      recent_login_above: integerSetting(
        'Total refunded amount of an order above which an administrator must have logged in within the last five minutes.',
        50_000,
        0,
        1_000_000_000
      ),
      api_key_max: integerSetting(
        'Maximum total amount that API keys can refund of an order.',
        50_000,
        0,
        1_000_000_000
      )
    }
  ),
  manual_methods: Type.Array(Type.Enum(['bank_transfer', 'cash_on_delivery', 'on_account']), {
    description:
      'Manual payment methods that customers can choose, the default first: bank_transfer, cash_on_delivery, on_account.',
    default: ['bank_transfer'],
    minItems: 1,
    uniqueItems: true
  }),
  bank_transfer: textSetting(
    'Account details shown to customers who pay by bank transfer. While empty, production does not offer bank transfer.',
    ''
  ),
  stripe: settingsSection('Stripe: cards and other payment methods. Offered when a key is set.', {
    secret_key: secretSetting(
      'Secret key of the Stripe account (sk_...); best set in the environment. Empty: Stripe is not offered.'
    ),
    publishable_key: textSetting('Publishable key (pk_...) that shop fronts receive for Stripe.js.', ''),
    webhook_secrets: Type.Array(Type.String({ minLength: 1, writeOnly: true }), {
      description:
        'Signing secrets of webhooks from Stripe (whsec_...). Each is accepted, so that secrets can be rotated.',
      default: []
    }),
    url: textSetting("Base URL of the Stripe API, for tests. Empty: Stripe's own.", '')
  }),
  sandbox: settingsSection(
    'Payment sandbox for development: a provider that moves no money. Production refuses it.',
    {
      mode: Type.Enum(['auto', 'on', 'off'], {
        description: 'Whether the payment sandbox is offered. `auto`: in development only.',
        default: 'auto'
      }),
      url: textSetting(
        'URL of a sandbox that is already running, such as http://127.0.0.1:8090. Empty: the shop starts its own.',
        ''
      ),
      port: integerSetting('Port of the sandbox that the shop starts; 0: any free port.', 0, 0, 65_535)
    }
  )
})

export type PaymentsSettings = SettingsOf<typeof paymentsSettings>
