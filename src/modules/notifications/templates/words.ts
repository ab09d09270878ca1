/** A template: Liquid, whose output is escaped in `html` alone. */
export type Words = { readonly subject: string; readonly text: string; readonly html: string }

/** What all mails of the shop look like; templates fill its block. */
export const LAYOUT = `<!doctype html>
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

/** The lines and totals of an order, in words of a language. */
export type OrderWords = {
  discount: string
  shipping: string
  tax: string
  included: string
  total: string
}

export const orderText = (
  words: OrderWords
): string => `{% for line in order.lines %}{% if line.quantity > 0 %}
{{ line.quantity }} x {{ line.name }}{% if line.variant_name != '' %}, {{ line.variant_name }}{% endif %}: {{ line.total | money: order.currency }}{% endif %}{% endfor %}
{% if order.discount_total > 0 %}
${words.discount}: -{{ order.discount_total | money: order.currency }}{% endif %}
${words.shipping}: {{ order.shipping_total | money: order.currency }}
{% if order.tax_added > 0 %}${words.tax}{% else %}${words.included}{% endif %}: {{ order.tax_total | money: order.currency }}
${words.total}: {{ order.total | money: order.currency }}`

const row = (what: string, amount: string) =>
  `<tr><td style="padding:4px 0">${what}</td><td style="padding:4px 0;text-align:right">${amount}</td></tr>`

export const orderTable = (words: OrderWords): string =>
  `<table style="width:100%;border-collapse:collapse">{% for line in order.lines %}{% if line.quantity > 0 %}
${row("{{ line.quantity }} × {{ line.name }}{% if line.variant_name != '' %}, {{ line.variant_name }}{% endif %}", '{{ line.total | money: order.currency }}')}{% endif %}{% endfor %}
{% if order.discount_total > 0 %}${row(words.discount, '-{{ order.discount_total | money: order.currency }}')}{% endif %}
${row(words.shipping, '{{ order.shipping_total | money: order.currency }}')}
${row(`{% if order.tax_added > 0 %}${words.tax}{% else %}${words.included}{% endif %}`, '{{ order.tax_total | money: order.currency }}')}
${row(`<strong>${words.total}</strong>`, '<strong>{{ order.total | money: order.currency }}</strong>')}
</table>`

export const shipmentText = `{% for line in shipment.lines %}
{{ line.quantity }} x {{ line.name }}{% if line.variant_name != '' %}, {{ line.variant_name }}{% endif %}{% endfor %}`
export const shipmentList = `<ul>{% for line in shipment.lines %}<li>{{ line.quantity }} × {{ line.name }}{% if line.variant_name != '' %}, {{ line.variant_name }}{% endif %}</li>{% endfor %}</ul>`

/** What stands within the layout; `unsubscribe` are the words of the link below it. */
export const within = (content: string, unsubscribe: string): string =>
  `{% layout 'layout' %}{% block content %}${content}{% endblock %}{% block unsubscribe %}<a href="{{ unsubscribe_url }}">${unsubscribe}</a>{% endblock %}`

export const paragraph = (text: string): string => `<p>${text}</p>`
export const button = (words: string, url: string): string =>
  `<p><a href="${url}" style="display:inline-block;background:#8f3f1d;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">${words}</a></p>`
/** Where there is a page of the order. */
export const orderButton = (words: string): string =>
  `{% if order.url != '' %}${button(words, '{{ order.url }}')}{% endif %}`
