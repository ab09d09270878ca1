import { Type } from '../../kernel/schema.ts'
import { count, type SettingsOf, secret, section, text } from '../../kernel/settings.ts'

export const paymentsSettings = section('Payments.', {
  default_provider: Type.Enum(['auto', 'stripe', 'sandbox', 'manual'], {
    description:
      'Who is paid when a client names nobody; auto: Stripe where it has a key, else the sandbox where there is one, else manual.',
    default: 'auto'
  }),
  capture: Type.Enum(['automatic', 'manual'], {
    description: 'Whether money is taken as soon as it is held, or when an administrator says so.',
    default: 'automatic'
  }),
  capture_before_expiry: Type.Enum(['warn', 'capture'], {
    description:
      'What is done a day before what is held runs out: it is said (an event, and the log), or it is said and taken.',
    default: 'warn'
  }),
  intents_per_minute: count('Payments that are begun, by customer, and of guests by client address.', 30),
  failed_attempts_per_hour: count(
    'Failed payment attempts of one network, or for one order, in an hour, before further ones are refused.',
    10,
    1,
    1_000
  ),
  refunds: section(
    'How much is refunded of one order in total, in the smallest unit of its currency, such as cents. Canceling a paid order is a refund, too.',
    {
      recent_login_above: count(
        'Above this, an administrator needs a log-in of the last five minutes.',
        50_000,
        0,
        1_000_000_000
      ),
      api_key_max: count('The most that API keys refund.', 50_000, 0, 1_000_000_000)
    }
  ),
  manual_methods: Type.Array(Type.Enum(['bank_transfer', 'cash_on_delivery', 'on_account']), {
    description:
      'What customers may choose that no program is paid by, the usual one first: bank_transfer, cash_on_delivery, on_account.',
    default: ['bank_transfer'],
    minItems: 1,
    uniqueItems: true
  }),
  bank_transfer: text(
    'The account details for customers who pay by bank transfer. While it is empty, production does not offer bank transfer.',
    ''
  ),
  stripe: section('Cards and other ways to pay, by Stripe; offered when it has a key.', {
    secret_key: secret('The secret key of the account, sk_...; best in the environment. Empty: not offered.'),
    publishable_key: text('What shop fronts are told, for the code of Stripe in a browser: pk_...', ''),
    webhook_secrets: Type.Array(Type.String({ minLength: 1, writeOnly: true }), {
      description:
        'What callbacks are signed with, whsec_...; each of them counts, so that one can follow the other.',
      default: []
    }),
    url: text('Where it is asked, for tests; empty: at Stripe.', '')
  }),
  sandbox: section('A provider that takes no money, for development. Production refuses it.', {
    mode: Type.Enum(['auto', 'on', 'off'], {
      description: 'Whether it is offered; auto: in development.',
      default: 'auto'
    }),
    url: text('One that runs already, such as http://127.0.0.1:8090; empty: the shop starts its own.', ''),
    port: count('The port of the one that the shop starts; 0: any free one.', 0, 0, 65_535)
  })
})

export type PaymentsSettings = SettingsOf<typeof paymentsSettings>
