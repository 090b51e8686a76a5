import{A as v,B as s,E as x,a as r,e as u,j as f,n as k}from"./shared-7AL4VEQZ.js";import{a as h,b as i,e as m,g as p,h as c,i as g}from"./shared-PL53VPD7.js";var $=["token","key","lang","theme"];function y(){let l=new URLSearchParams(location.hash.slice(1)),e={};for(let n of $){let o=l.get(n);o!==null&&(e[n]=o),l.delete(n)}let a=l.toString();return Object.keys(e).length>0&&history.replaceState(null,"",`${location.pathname}${location.search}${a&&`#${a}`}`),e}var w=["auto","light","dark"],d=class extends p{static{this.properties={token:{state:!0},key:{state:!0},language:{state:!0},look:{state:!0},theme:{reflect:!0}}}static{this.styles=[c,g,h`
:host { display: flex; flex-direction: column; min-height: 100vh; min-height: 100dvh; background: var(--bg); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 8px 12px; border-bottom: 1px solid var(--border); }
h1 { margin: 0; min-width: 0; font-size: 1.15em; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
img { max-height: 28px; max-width: 140px; flex: none; }
.tenant { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
select { border-color: transparent; background: transparent; }
select:hover { border-color: var(--control); }
@media (max-width: 480px) { header { gap: 2px 12px; padding: 4px 8px; } h1 { flex: 1; } .tenant { order: 1; flex-basis: 100%; } .tenant:empty { display: none; } img { max-width: 72px; } select { width: 92px; padding: 3px 0; } }
@media (max-height: 500px) { header { padding-block: 2px; } }
@media print { :host { min-height: 0; } select { display: none; } }
audit-log-viewer { flex: 1 0 auto; --audit-height: auto; }
`]}constructor(){super(),this.token="",this.theme="auto",this.look={name:null,logo:null},this.language=s(navigator.languages).name.split("-")[0]??"en",this.take(),addEventListener("hashchange",()=>this.take())}take(){let{token:e,key:a,lang:n,theme:o}=y();e!==void 0&&(this.token=e),e&&this.readLook(e),a!==void 0&&(this.key=a.replaceAll(" ","+")),n!==void 0&&(this.language=s([n]).name.split("-")[0]??"en"),w.some(t=>t===o)&&(this.theme=o??"auto")}async readLook(e){let a=await f(new u({baseUrl:"",credential:e})).catch(()=>({name:null,logo:null}));e===this.token&&(this.look=a)}render(){let{messages:e}=s([this.language]),{name:a,logo:n}=this.look;document.documentElement.lang=this.language,document.documentElement.dir=e.direction,document.title=a?`${r(a)} · ${e.title}`:e.title;let o=new Intl.DisplayNames([this.language],{type:"language"});return i`
<header>
${n?i`<img src=${n} alt="" />`:m}
        <h1>${r(a??e.title)}</h1>
        <span class="tenant muted">${r(k(this.token)??"")}</span>
        <select aria-label=${e.language} @change=${t=>this.language=t.target.value}>
          ${v().map(t=>i`<option value=${t} .selected=${t===this.language}>${o.of(t)??t}</option>`)}
        </select>
        <select aria-label=${e.theme} @change=${t=>this.theme=t.target.value}>
          ${w.map(t=>i`<option value=${t} .selected=${t===this.theme}>${e.themes[t]}</option>`)}
        </select>
      </header>
      <audit-log-viewer fragment .token=${this.token} .pinnedKey=${this.key} lang=${this.language} theme=${this.theme}></audit-log-viewer>
    `}};x();customElements.define("audit-log-portal",d);document.querySelector("#app")?.append(document.createElement("audit-log-portal"));
