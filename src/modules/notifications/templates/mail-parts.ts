/** The Liquid source of a template. Output is escaped in `html` only. */
export type MailTemplateSource = { readonly subject: string; readonly text: string; readonly html: string }

/** The common HTML layout of mails. Templates fill its blocks. */
export const MAIL_HTML_LAYOUT = `<!doctype html>
<html lang="{{ locale }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
</head>
<body style="margin:0;background:#f4f2ee;color:#26241f;font:16px/1.5 -apple-system,Segoe UI,Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px 16px">
<p style="font-size:20px;font-weight:600;margin:0 0 16px">{{ shop.name }}</p>
<div style="background:#fff;border-radius:8px;padding:24px">{% block content %}{% endblock %}</div>
{% if unsubscribe_url != blank %}<p style="font-size:13px;color:#5f5a50">{% block unsubscribe %}<a href="{{ unsubscribe_url }}">Unsubscribe</a>{% endblock %}</p>{% endif %}
</div>
</body>
</html>
`

/** Labels of the totals of an order, in one language. */
type OrderLabels = {
  discount: string
  shipping: string
  tax: string
  included: string
  total: string
  /** What is left to pay after tenders. */
  due: string
}

const lineName = "{{ line.name }}{% if line.variant_name != '' %}, {{ line.variant_name }}{% endif %}"
/** The metadata of a line, such as an engraving. Each entry follows `before`. */
const lineMetadata = (before: string) =>
  `{% for entry in line.metadata %}${before}{{ entry.key }}: {{ entry.value }}{% endfor %}`
const lineMetadataText = lineMetadata('\n  ')
const lineMetadataHtml = lineMetadata('<br>')

const orderText = (words: OrderLabels): string => `{% for line in order.lines %}{% if line.quantity > 0 %}
{{ line.quantity }} x ${lineName}: {{ line.total | money: order.currency }}${lineMetadataText}{% endif %}{% endfor %}
{% if order.discount_total > 0 %}
${words.discount}: -{{ order.discount_total | money: order.currency }}{% endif %}
${words.shipping}: {{ order.shipping_total | money: order.currency }}{% if order.tax_total > 0 %}
{% if order.tax_added > 0 %}${words.tax}{% else %}${words.included}{% endif %}: {{ order.tax_total | money: order.currency }}{% endif %}
${words.total}: {{ order.total | money: order.currency }}{% for tender in order.tenders %}
{{ tender.label }}: -{{ tender.amount | money: order.currency }}{% if forloop.last and order.due > 0 %}
${words.due}: {{ order.due | money: order.currency }}{% endif %}{% endfor %}`

const row = (what: string, amount: string) =>
  `<tr><td style="padding:4px 0">${what}</td><td style="padding:4px 0;text-align:right">${amount}</td></tr>`

const orderTable = (words: OrderLabels): string =>
  `<table style="width:100%;border-collapse:collapse">{% for line in order.lines %}{% if line.quantity > 0 %}
${row(`{{ line.quantity }} × ${lineName}${lineMetadataHtml}`, '{{ line.total | money: order.currency }}')}{% endif %}{% endfor %}
{% if order.discount_total > 0 %}${row(words.discount, '-{{ order.discount_total | money: order.currency }}')}{% endif %}
${row(words.shipping, '{{ order.shipping_total | money: order.currency }}')}
{% if order.tax_total > 0 %}${row(`{% if order.tax_added > 0 %}${words.tax}{% else %}${words.included}{% endif %}`, '{{ order.tax_total | money: order.currency }}')}{% endif %}
${row(`<strong>${words.total}</strong>`, '<strong>{{ order.total | money: order.currency }}</strong>')}
{% for tender in order.tenders %}${row('{{ tender.label }}', '-{{ tender.amount | money: order.currency }}')}{% if forloop.last and order.due > 0 %}${row(`<strong>${words.due}</strong>`, '<strong>{{ order.due | money: order.currency }}</strong>')}{% endif %}{% endfor %}
</table>`

const shipmentText = `{% for line in shipment.lines %}
{{ line.quantity }} x ${lineName}${lineMetadataText}{% endfor %}`
const shipmentList = `<ul>{% for line in shipment.lines %}<li>{{ line.quantity }} × ${lineName}${lineMetadataHtml}</li>{% endfor %}</ul>`

/** Puts content into the layout. `unsubscribe` is the text of the link below it. */
const inLayout = (content: string, unsubscribe: string): string =>
  `{% layout 'layout' %}{% block content %}${content}{% endblock %}{% block unsubscribe %}<a href="{{ unsubscribe_url }}">${unsubscribe}</a>{% endblock %}`

const paragraph = (text: string): string => `<p>${text}</p>`
const button = (words: string, url: string): string =>
  `<p><a href="${url}" style="display:inline-block;background:#8f3f1d;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">${words}</a></p>`
/** The link to the order is left out when the shop has no URL for it. */
const orderButton = (words: string): string =>
  `{% if order.url != '' %}${button(words, '{{ order.url }}')}{% endif %}`

/** Phrases that all mails share, in one language. */
type MailPhrases = {
  readonly hello: string
  readonly order: OrderLabels
  /** Text before the URL of an order, and on the button that opens it. */
  readonly seeOrder: string
  readonly seeButton: string
  readonly trackingNumber: string
  /** The sentence that states when a link expires. */
  readonly until: string
  /** Text before the unsubscribe URL, and of the unsubscribe link in HTML. */
  readonly unsubscribe: string
  readonly unsubscribeLink: string
}

/** Returns functions that build the templates of one language. */
export function createDefaultMailTemplateBuilder({ order, until, ...phrases }: MailPhrases) {
  const hello = `${phrases.hello}{% if recipient.name != '' %} {{ recipient.name }}{% endif %},`
  const see = `{% if order.url != '' %}\n\n${phrases.seeOrder}: {{ order.url }}{% endif %}`
  const seeButton = orderButton(phrases.seeButton)
  const tracking = `{% if shipment.tracking_number != '' %}${phrases.trackingNumber}: {{ shipment.tracking_number }}{% if shipment.carrier != '' %} ({{ shipment.carrier }}){% endif %}{% endif %}`
  const unsubscribe = `{% if unsubscribe_url != blank %}\n\n${phrases.unsubscribe}: {{ unsubscribe_url }}{% endif %}`

  const mail = (subject: string, text: string, html: string): MailTemplateSource => ({
    subject,
    text: `${hello}\n\n${text}\n\n{{ shop.name }}${unsubscribe}\n`,
    html: inLayout(`${paragraph(hello)}${html}`, phrases.unsubscribeLink)
  })
  return {
    plain: (subject: string, ...sentences: string[]): MailTemplateSource =>
      mail(subject, sentences.join('\n\n'), sentences.map(paragraph).join('')),
    /** A sentence, the lines and totals of an order, and the link to it. */
    orderMail: (subject: string, sentence: string): MailTemplateSource =>
      mail(
        subject,
        `${sentence}\n${orderText(order)}${see}`,
        `${paragraph(sentence)}${orderTable(order)}${seeButton}`
      ),
    shipmentMail: (subject: string, sentence: string): MailTemplateSource =>
      mail(
        subject,
        `${sentence}\n${shipmentText}\n\n${tracking}${see}`,
        `${paragraph(sentence)}${shipmentList}${paragraph(tracking)}${seeButton}`
      ),
    /** A sentence, a link with a button, and advice for recipients who did not request it. */
    linkMail: (subject: string, sentence: string, buttonText: string, advice: string): MailTemplateSource =>
      mail(
        subject,
        `${sentence}\n\n{{ url }}\n\n${until} ${advice}`,
        `${paragraph(sentence)}${button(buttonText, '{{ url }}')}${paragraph(`${until} ${advice}`)}`
      )
  }
}
