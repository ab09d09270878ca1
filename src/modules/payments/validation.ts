import type { SettingProblem } from '../../kernel/settings.ts'
import { HTTP_URL_MESSAGE, isHttpUrl } from '../../kernel/urls.ts'
import type { PaymentsSettings } from './settings.ts'

/** Finds settings with which payments cannot work. */
export function validatePaymentSettings(
  { stripe, sandbox, default_provider: byDefault }: PaymentsSettings,
  { environment }: { environment: string }
): SettingProblem[] {
  const isProduction = environment === 'production'
  const isSandboxOffered = !isProduction && sandbox.mode !== 'off'
  const problems: (SettingProblem | false)[] = [
    isProduction &&
      sandbox.mode === 'on' && {
        key: 'sandbox.mode',
        message: 'must be auto or off in production, because the sandbox takes no money'
      },
    stripe.secret_key !== '' &&
      !/^[sr]k_/.test(stripe.secret_key) && {
        key: 'stripe.secret_key',
        message: 'must be a secret or restricted key of Stripe: sk_... or rk_..., not pk_...'
      },
    stripe.publishable_key !== '' &&
      !stripe.publishable_key.startsWith('pk_') && {
        key: 'stripe.publishable_key',
        message: 'must be the publishable key of Stripe: pk_...',
        isSecret: /^[sr]k_/.test(stripe.publishable_key)
      },
    stripe.secret_key !== '' &&
      stripe.webhook_secrets.length === 0 && {
        key: 'stripe.webhook_secrets',
        message:
          'must hold the signing secret of the endpoint, whsec_..., because stripe.secret_key is set and callbacks could not be verified'
      },
    byDefault === 'stripe' &&
      stripe.secret_key === '' && {
        key: 'default_provider',
        message: 'must be auto or another provider while payments.stripe.secret_key is empty; or set that key'
      },
    byDefault === 'sandbox' &&
      !isSandboxOffered && {
        key: 'default_provider',
        message: isProduction
          ? 'must be auto or another provider in production, where the sandbox is not offered'
          : 'must be auto or another provider while payments.sandbox.mode is off'
      },
    ...stripe.webhook_secrets.map(
      (each, index) =>
        !each.startsWith('whsec_') && {
          key: `stripe.webhook_secrets.${index}`,
          message: 'must be the signing secret of an endpoint of Stripe: whsec_...'
        }
    ),
    ...(['stripe', 'sandbox'] as const).map(
      name =>
        ({ stripe, sandbox })[name].url !== '' &&
        !isHttpUrl({ stripe, sandbox }[name].url) && { key: `${name}.url`, message: HTTP_URL_MESSAGE }
    )
  ]
  return problems.filter(problem => problem !== false)
}
