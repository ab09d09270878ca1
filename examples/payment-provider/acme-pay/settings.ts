import { settings } from 'cartwright'

export const acmePaySettings = settings.settingsSection('Acme Pay.', {
  url: settings.textSetting('URL of the API of Acme Pay.', 'https://api.acme-pay.example'),
  api_key: settings.secretSetting('API key. Without it, Acme Pay is not offered.'),
  webhook_secret: settings.secretSetting('Secret that signs the callbacks of Acme Pay.'),
  timeout_ms: settings.integerSetting('Longest wait for a response of Acme Pay, in milliseconds.', 8_000)
})
