import{a as i,b as n}from"./shared-IVR2C6RN.js";import{a as o,b as a,g as s}from"./shared-PF2M4KPR.js";var d=[{href:"/console",title:"Console",text:"For operators, developers and support: events, alerts, rules, webhooks, keys. Needs a master key or a project key."},{href:"/portal",title:"Portal",text:"For customers: their own events, with a proof of each. Opens from a link that your application makes."},{href:"/docs",title:"API",text:"Every endpoint of the HTTP API. The OpenAPI document is at /api/v1/openapi.json."},{href:"/viewer.js",title:"Viewer component",text:"A web component that shows a customer's events in your own application."}],r=class extends s{static{this.properties={readiness:{state:!0}}}static{this.styles=[i,n,o`
:host { display: block; min-height: 100vh; background: var(--bg); --size: 15px; }
.page { max-width: 760px; margin: 0 auto; padding: 48px 20px; }
h1 { margin: 0 0 8px; font-size: 1.7em; } p { margin: 0 0 14px; }
ul { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 12px; margin: 28px 0; }
li { border: 1px solid var(--border); border-radius: 10px; padding: 14px 16px; background: var(--surface); }
li a { font-weight: 600; } li p { margin: 4px 0 0; color: var(--muted); font-size: 0.94em; }
.state { display: inline-flex; align-items: center; gap: 8px; color: var(--muted); }
.state i { width: 10px; height: 10px; border-radius: 50%; background: var(--muted); }
.state.ready i { background: var(--good); } .state.not i { background: var(--bad); }
`]}constructor(){super(),this.readiness="unknown",this.look()}async look(){let e=await fetch("/readyz",{cache:"no-store"}).then(t=>t.ok,()=>!1);this.readiness=e?"ready":"not ready"}render(){return a`<div class="page">
<h1>Audit log</h1>
<p>Applications report who did what, when and to whose data. This service keeps those reports as records that cannot be changed unnoticed.</p>
<span class="state ${this.readiness}" role="status"><i></i>Version ${"0.1.0"} · ${this.readiness}</span>
<ul>${d.map(({href:e,title:t,text:p})=>a`<li><a href=${e}>${t}</a><p>${p}</p></li>`)}</ul>
    </div>`}};customElements.define("audit-home",r);document.querySelector("#app")?.append(document.createElement("audit-home"));
