var ae=globalThis,le=ae.ShadowRoot&&(ae.ShadyCSS===void 0||ae.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,Ie=Symbol(),ct=new WeakMap,G=class{constructor(e,t,i){if(this._$cssResult$=!0,i!==Ie)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,t=this.t;if(le&&e===void 0){let i=t!==void 0&&t.length===1;i&&(e=ct.get(t)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),i&&ct.set(t,e))}return e}toString(){return this.cssText}},ht=s=>new G(typeof s=="string"?s:s+"",void 0,Ie),$=(s,...e)=>{let t=s.length===1?s[0]:e.reduce((i,r,n)=>i+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(r)+s[n+1],s[0]);return new G(t,s,Ie)},ut=(s,e)=>{if(le)s.adoptedStyleSheets=e.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of e){let i=document.createElement("style"),r=ae.litNonce;r!==void 0&&i.setAttribute("nonce",r),i.textContent=t.cssText,s.appendChild(i)}},De=le?s=>s:s=>s instanceof CSSStyleSheet?(e=>{let t="";for(let i of e.cssRules)t+=i.cssText;return ht(t)})(s):s;var{is:bi,defineProperty:wi,getOwnPropertyDescriptor:$i,getOwnPropertyNames:xi,getOwnPropertySymbols:ki,getPrototypeOf:Ai}=Object,de=globalThis,pt=de.trustedTypes,_i=pt?pt.emptyScript:"",Ei=de.reactiveElementPolyfillSupport,X=(s,e)=>s,He={toAttribute(s,e){switch(e){case Boolean:s=s?_i:null;break;case Object:case Array:s=s==null?s:JSON.stringify(s)}return s},fromAttribute(s,e){let t=s;switch(e){case Boolean:t=s!==null;break;case Number:t=s===null?null:Number(s);break;case Object:case Array:try{t=JSON.parse(s)}catch{t=null}}return t}},mt=(s,e)=>!bi(s,e),ft={attribute:!0,type:String,converter:He,reflect:!1,useDefault:!1,hasChanged:mt};Symbol.metadata??=Symbol("metadata"),de.litPropertyMetadata??=new WeakMap;var S=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=ft){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let i=Symbol(),r=this.getPropertyDescriptor(e,i,t);r!==void 0&&wi(this.prototype,e,r)}}static getPropertyDescriptor(e,t,i){let{get:r,set:n}=$i(this.prototype,e)??{get(){return this[t]},set(o){this[t]=o}};return{get:r,set(o){let a=r?.call(this);n?.call(this,o),this.requestUpdate(e,a,i)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??ft}static _$Ei(){if(this.hasOwnProperty(X("elementProperties")))return;let e=Ai(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(X("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(X("properties"))){let t=this.properties,i=[...xi(t),...ki(t)];for(let r of i)this.createProperty(r,t[r])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[i,r]of t)this.elementProperties.set(i,r)}this._$Eh=new Map;for(let[t,i]of this.elementProperties){let r=this._$Eu(t,i);r!==void 0&&this._$Eh.set(r,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let i=new Set(e.flat(1/0).reverse());for(let r of i)t.unshift(De(r))}else e!==void 0&&t.push(De(e));return t}static _$Eu(e,t){let i=t.attribute;return i===!1?void 0:typeof i=="string"?i:typeof e=="string"?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let i of t.keys())this.hasOwnProperty(i)&&(e.set(i,this[i]),delete this[i]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return ut(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,i){this._$AK(e,i)}_$ET(e,t){let i=this.constructor.elementProperties.get(e),r=this.constructor._$Eu(e,i);if(r!==void 0&&i.reflect===!0){let n=(i.converter?.toAttribute!==void 0?i.converter:He).toAttribute(t,i.type);this._$Em=e,n==null?this.removeAttribute(r):this.setAttribute(r,n),this._$Em=null}}_$AK(e,t){let i=this.constructor,r=i._$Eh.get(e);if(r!==void 0&&this._$Em!==r){let n=i.getPropertyOptions(r),o=typeof n.converter=="function"?{fromAttribute:n.converter}:n.converter?.fromAttribute!==void 0?n.converter:He;this._$Em=r;let a=o.fromAttribute(t,n.type);this[r]=a??this._$Ej?.get(r)??a,this._$Em=null}}requestUpdate(e,t,i,r=!1,n){if(e!==void 0){let o=this.constructor;if(r===!1&&(n=this[e]),i??=o.getPropertyOptions(e),!((i.hasChanged??mt)(n,t)||i.useDefault&&i.reflect&&n===this._$Ej?.get(e)&&!this.hasAttribute(o._$Eu(e,i))))return;this.C(e,t,i)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(e,t,{useDefault:i,reflect:r,wrapped:n},o){i&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,o??t??this[e]),n!==!0||o!==void 0)||(this._$AL.has(e)||(this.hasUpdated||i||(t=void 0),this._$AL.set(e,t)),r===!0&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[r,n]of this._$Ep)this[r]=n;this._$Ep=void 0}let i=this.constructor.elementProperties;if(i.size>0)for(let[r,n]of i){let{wrapped:o}=n,a=this[r];o!==!0||this._$AL.has(r)||a===void 0||this.C(r,void 0,n,a)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(i=>i.hostUpdate?.()),this.update(t)):this._$EM()}catch(i){throw e=!1,this._$EM(),i}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(e){}firstUpdated(e){}};S.elementStyles=[],S.shadowRootOptions={mode:"open"},S[X("elementProperties")]=new Map,S[X("finalized")]=new Map,Ei?.({ReactiveElement:S}),(de.reactiveElementVersions??=[]).push("2.1.2");var je=globalThis,gt=s=>s,ce=je.trustedTypes,vt=ce?ce.createPolicy("lit-html",{createHTML:s=>s}):void 0,ze="$lit$",P=`lit$${Math.random().toFixed(9).slice(2)}$`,Ve="?"+P,Ti=`<${Ve}>`,U=document,Q=()=>U.createComment(""),ee=s=>s===null||typeof s!="object"&&typeof s!="function",Je=Array.isArray,kt=s=>Je(s)||typeof s?.[Symbol.iterator]=="function",Be=`[ 	
\f\r]`,Y=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,yt=/-->/g,bt=/>/g,N=RegExp(`>|${Be}(?:([^\\s"'>=/]+)(${Be}*=${Be}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),wt=/'/g,$t=/"/g,At=/^(?:script|style|textarea|title)$/i,Ke=s=>(e,...t)=>({_$litType$:s,strings:e,values:t}),c=Ke(1),ge=Ke(2),Os=Ke(3),C=Symbol.for("lit-noChange"),h=Symbol.for("lit-nothing"),xt=new WeakMap,L=U.createTreeWalker(U,129);function _t(s,e){if(!Je(s)||!s.hasOwnProperty("raw"))throw Error("invalid template strings array");return vt!==void 0?vt.createHTML(e):e}var Et=(s,e)=>{let t=s.length-1,i=[],r,n=e===2?"<svg>":e===3?"<math>":"",o=Y;for(let a=0;a<t;a++){let l=s[a],u,p,d=-1,f=0;for(;f<l.length&&(o.lastIndex=f,p=o.exec(l),p!==null);)f=o.lastIndex,o===Y?p[1]==="!--"?o=yt:p[1]!==void 0?o=bt:p[2]!==void 0?(At.test(p[2])&&(r=RegExp("</"+p[2],"g")),o=N):p[3]!==void 0&&(o=N):o===N?p[0]===">"?(o=r??Y,d=-1):p[1]===void 0?d=-2:(d=o.lastIndex-p[2].length,u=p[1],o=p[3]===void 0?N:p[3]==='"'?$t:wt):o===$t||o===wt?o=N:o===yt||o===bt?o=Y:(o=N,r=void 0);let m=o===N&&s[a+1].startsWith("/>")?" ":"";n+=o===Y?l+Ti:d>=0?(i.push(u),l.slice(0,d)+ze+l.slice(d)+P+m):l+P+(d===-2?a:m)}return[_t(s,n+(s[t]||"<?>")+(e===2?"</svg>":e===3?"</math>":"")),i]},te=class s{constructor({strings:e,_$litType$:t},i){let r;this.parts=[];let n=0,o=0,a=e.length-1,l=this.parts,[u,p]=Et(e,t);if(this.el=s.createElement(u,i),L.currentNode=this.el.content,t===2||t===3){let d=this.el.content.firstChild;d.replaceWith(...d.childNodes)}for(;(r=L.nextNode())!==null&&l.length<a;){if(r.nodeType===1){if(r.hasAttributes())for(let d of r.getAttributeNames())if(d.endsWith(ze)){let f=p[o++],m=r.getAttribute(d).split(P),v=/([.?@])?(.*)/.exec(f);l.push({type:1,index:n,name:v[2],strings:m,ctor:v[1]==="."?ue:v[1]==="?"?pe:v[1]==="@"?fe:D}),r.removeAttribute(d)}else d.startsWith(P)&&(l.push({type:6,index:n}),r.removeAttribute(d));if(At.test(r.tagName)){let d=r.textContent.split(P),f=d.length-1;if(f>0){r.textContent=ce?ce.emptyScript:"";for(let m=0;m<f;m++)r.append(d[m],Q()),L.nextNode(),l.push({type:2,index:++n});r.append(d[f],Q())}}}else if(r.nodeType===8)if(r.data===Ve)l.push({type:2,index:n});else{let d=-1;for(;(d=r.data.indexOf(P,d+1))!==-1;)l.push({type:7,index:n}),d+=P.length-1}n++}}static createElement(e,t){let i=U.createElement("template");return i.innerHTML=e,i}};function I(s,e,t=s,i){if(e===C)return e;let r=i!==void 0?t._$Co?.[i]:t._$Cl,n=ee(e)?void 0:e._$litDirective$;return r?.constructor!==n&&(r?._$AO?.(!1),n===void 0?r=void 0:(r=new n(s),r._$AT(s,t,i)),i!==void 0?(t._$Co??=[])[i]=r:t._$Cl=r),r!==void 0&&(e=I(s,r._$AS(s,e.values),r,i)),e}var he=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:i}=this._$AD,r=(e?.creationScope??U).importNode(t,!0);L.currentNode=r;let n=L.nextNode(),o=0,a=0,l=i[0];for(;l!==void 0;){if(o===l.index){let u;l.type===2?u=new B(n,n.nextSibling,this,e):l.type===1?u=new l.ctor(n,l.name,l.strings,this,e):l.type===6&&(u=new me(n,this,e)),this._$AV.push(u),l=i[++a]}o!==l?.index&&(n=L.nextNode(),o++)}return L.currentNode=U,r}p(e){let t=0;for(let i of this._$AV)i!==void 0&&(i.strings!==void 0?(i._$AI(e,i,t),t+=i.strings.length-2):i._$AI(e[t])),t++}},B=class s{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,i,r){this.type=2,this._$AH=h,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=i,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=I(this,e,t),ee(e)?e===h||e==null||e===""?(this._$AH!==h&&this._$AR(),this._$AH=h):e!==this._$AH&&e!==C&&this._(e):e._$litType$!==void 0?this.$(e):e.nodeType!==void 0?this.T(e):kt(e)?this.k(e):this._(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==h&&ee(this._$AH)?this._$AA.nextSibling.data=e:this.T(U.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:i}=e,r=typeof i=="number"?this._$AC(e):(i.el===void 0&&(i.el=te.createElement(_t(i.h,i.h[0]),this.options)),i);if(this._$AH?._$AD===r)this._$AH.p(t);else{let n=new he(r,this),o=n.u(this.options);n.p(t),this.T(o),this._$AH=n}}_$AC(e){let t=xt.get(e.strings);return t===void 0&&xt.set(e.strings,t=new te(e)),t}k(e){Je(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,i,r=0;for(let n of e)r===t.length?t.push(i=new s(this.O(Q()),this.O(Q()),this,this.options)):i=t[r],i._$AI(n),r++;r<t.length&&(this._$AR(i&&i._$AB.nextSibling,r),t.length=r)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let i=gt(e).nextSibling;gt(e).remove(),e=i}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},D=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,i,r,n){this.type=1,this._$AH=h,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=n,i.length>2||i[0]!==""||i[1]!==""?(this._$AH=Array(i.length-1).fill(new String),this.strings=i):this._$AH=h}_$AI(e,t=this,i,r){let n=this.strings,o=!1;if(n===void 0)e=I(this,e,t,0),o=!ee(e)||e!==this._$AH&&e!==C,o&&(this._$AH=e);else{let a=e,l,u;for(e=n[0],l=0;l<n.length-1;l++)u=I(this,a[i+l],t,l),u===C&&(u=this._$AH[l]),o||=!ee(u)||u!==this._$AH[l],u===h?e=h:e!==h&&(e+=(u??"")+n[l+1]),this._$AH[l]=u}o&&!r&&this.j(e)}j(e){e===h?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??"")}},ue=class extends D{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===h?void 0:e}},pe=class extends D{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==h)}},fe=class extends D{constructor(e,t,i,r,n){super(e,t,i,r,n),this.type=5}_$AI(e,t=this){if((e=I(this,e,t,0)??h)===C)return;let i=this._$AH,r=e===h&&i!==h||e.capture!==i.capture||e.once!==i.once||e.passive!==i.passive,n=e!==h&&(i===h||r);r&&this.element.removeEventListener(this.name,this,i),n&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},me=class{constructor(e,t,i){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=i}get _$AU(){return this._$AM._$AU}_$AI(e){I(this,e)}},Tt={M:ze,P,A:Ve,C:1,L:Et,R:he,D:kt,V:I,I:B,H:D,N:pe,U:fe,B:ue,F:me},Si=je.litHtmlPolyfillSupport;Si?.(te,B),(je.litHtmlVersions??=[]).push("3.3.3");var St=(s,e,t)=>{let i=t?.renderBefore??e,r=i._$litPart$;if(r===void 0){let n=t?.renderBefore??null;i._$litPart$=r=new B(e.insertBefore(Q(),n),n,void 0,t??{})}return r._$AI(s),r};var We=globalThis,y=class extends S{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=St(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return C}};y._$litElement$=!0,y.finalized=!0,We.litElementHydrateSupport?.({LitElement:y});var Pi=We.litElementPolyfillSupport;Pi?.({LitElement:y});(We.litElementVersions??=[]).push("4.2.2");var Ci=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,Ri=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,qe=/[ \t\n\r]*/y;function Pt(s){return new Ze(s).document()}var Ze=class{constructor(e){this.text=e}text;#e=0;document(){let e=this.#n(0);return this.#s(qe),this.#e!==this.text.length&&this.#t(),e}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#s(e){e.lastIndex=this.#e;let t=e.exec(this.text)?.[0];return t!==void 0&&(this.#e+=t.length),t}#i(){return this.#s(qe),this.text[this.#e]}#r(e){this.#i()!==e&&this.#t(),this.#e+=1}#n(e){switch(e>200&&this.#t(),this.#i()){case"{":return this.#d(e);case"[":return this.#l(e);case'"':return this.#o();default:return this.#a()}}#o(){let e=this.#s(Ri);return e===void 0?this.#t():JSON.parse(e)}#a(){for(let[i,r]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(i,this.#e))return this.#e+=i.length,r;let e=this.#s(Ci);if(e===void 0)return this.#t();let t=Number(e);return/^-?[0-9]+$/.test(e)&&!Number.isSafeInteger(t)?BigInt(e):t}#l(e){let t=[];if(this.#r("["),this.#i()==="]")return this.#e+=1,t;for(;t.push(this.#n(e+1)),this.#i()===",";)this.#e+=1;return this.#r("]"),t}#d(e){let t={};if(this.#r("{"),this.#i()==="}")return this.#e+=1,t;for(;;){this.#s(qe);let i=this.#o();this.#r(":");let r=this.#n(e+1);if(Object.hasOwn(t,i)&&this.#t(),Object.defineProperty(t,i,{value:r,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#r("}"),t}};function ve(s){if(typeof s=="bigint")return s.toString();if(Array.isArray(s))return`[${s.map(ve).join(",")}]`;if(typeof s=="object"&&s!==null){let e=s;return`{${Object.keys(e).filter(i=>e[i]!==void 0).sort().map(i=>`${JSON.stringify(i)}:${ve(e[i])}`).join(",")}}`}return JSON.stringify(s)??"null"}var Ct=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g,Rt=s=>(s.codePointAt(0)??0).toString(16).toUpperCase().padStart(4,"0");function w(s){return s.replace(Ct,e=>`⟨U+${Rt(e)}⟩`)}function Ge(s){return s.replace(Ct,e=>`\\u${Rt(e)}`)}function Ot(s){return/\d{16}/.test(s)?Pt(s):JSON.parse(s)}function j(s,e=""){if(s===void 0)return"";if(typeof s=="bigint")return s.toString();if(s===null||typeof s!="object")return Ge(JSON.stringify(s));let t=`${e}  `,i=Array.isArray(s),r=i?s.map(a=>j(a,t)):Object.entries(s).map(([a,l])=>`${Ge(JSON.stringify(a))}: ${j(l,t)}`),[n,o]=i?["[","]"]:["{","}"];return r.length===0?n+o:`${n}
${t}${r.join(`,
${t}`)}
${e}${o}`}function Xe(s){return typeof s=="string"?w(s):j(s).replace(/\n\s*/g," ")}var E=$`
:host {
--bg: var(--audit-background, light-dark(#ffffff, #14181d));
--surface: var(--audit-surface, light-dark(#f6f7f9, #1b2027));
--raised: var(--audit-raised, light-dark(#ffffff, #20262e));
--text: var(--audit-text, light-dark(#1c2430, #e3e8ee));
--muted: var(--audit-muted, light-dark(#5a6675, #9aa6b4));
--border: var(--audit-border, light-dark(#dfe3e8, #323a45));
--control: var(--audit-control-border, light-dark(#858f9b, #6b7785));
--accent: var(--audit-accent, light-dark(#1f5f99, #7db8ee));
--on-accent: var(--audit-on-accent, light-dark(#ffffff, #10202f));
--selected: var(--audit-selected, light-dark(#e8f0f8, #23303d));
--good: var(--audit-good, light-dark(#1c6b3c, #7fd3a0));
--good-bg: var(--audit-good-background, light-dark(#e6f4ea, #17301f));
--bad: var(--audit-bad, light-dark(#a8261f, #ff9d94));
--bad-bg: var(--audit-bad-background, light-dark(#fdebea, #3a1a19));
--warn: var(--audit-warn, light-dark(#7a4b00, #efc070));
--warn-bg: var(--audit-warn-background, light-dark(#fff4de, #33270f));
--auth: var(--audit-category-auth, light-dark(#3576b8, #6aaae8));
--access: var(--audit-category-access, light-dark(#1f8a7d, #4fc0b1));
--mutation: var(--audit-category-mutation, light-dark(#b57a12, #dda94a));
--admin: var(--audit-category-admin, light-dark(#7b58b3, #ae90e0));
--security: var(--audit-category-security, light-dark(#c2423b, #f0837b));
--system: var(--audit-category-system, light-dark(#6d7885, #97a3b0));
--font: var(--audit-font, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
--mono: var(--audit-mono-font, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace);
--size: var(--audit-font-size, 13px);
--radius: var(--audit-radius, 6px);
font: var(--size) / 1.45 var(--font);
color: var(--text);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 3px 10px; white-space: nowrap;
border: 1px solid var(--border); border-radius: var(--radius); background: var(--raised); cursor: pointer; text-decoration: none;
color: inherit;
}
button:hover:not(:disabled), .button:hover { background: var(--selected); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); background: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
button.plain { border-color: transparent; background: transparent; }
button.icon { padding: 3px 7px; }
button[aria-pressed="true"] { background: var(--selected); border-color: var(--accent); }
input, select, textarea {
min-height: 30px; padding: 3px 8px; border: 1px solid var(--control); border-radius: var(--radius); background: var(--bg);
min-width: 0; max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); line-height: 1.5; }
:is(button, input, select, textarea, a, [tabindex], summary):focus-visible {
outline: 2px solid var(--accent); outline-offset: 1px;
}
a { color: var(--accent); }
code, pre, .mono { font-family: var(--mono); font-size: 0.94em; }
.muted { color: var(--muted); }
.visually-hidden {
position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--system); flex: none; }
.dot.auth { background: var(--auth); } .dot.access { background: var(--access); } .dot.mutation { background: var(--mutation); }
.dot.admin { background: var(--admin); } .dot.security { background: var(--security); }
.notice { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px; border-radius: var(--radius);
background: var(--warn-bg); color: var(--warn); }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice.good { background: var(--good-bg); color: var(--good); }
@media (prefers-reduced-motion: no-preference) {
.spinner::before { animation: turn 0.9s linear infinite; }
}
.spinner::before {
content: ""; display: inline-block; width: 12px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border-radius: 50%;
border: 2px solid var(--border); border-top-color: var(--accent);
}
@keyframes turn { to { transform: rotate(1turn); } }
`,Ft=$`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
`;var ye=class extends y{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[E,$`
:host { display: flex; flex-direction: column; min-height: 0; background: var(--bg); }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; overflow-wrap: anywhere; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(92px, auto) 1fr; gap: 3px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; overflow-wrap: anywhere; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); overflow-wrap: anywhere; }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; }
.notice { margin-top: 12px; }
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(e){e.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:e,formats:t}=this,{messages:i}=t,{actor:r,target:n,targets:o,context:a,outcome:l}=e;return c`
<header part="details-header">
<div>
<h3 tabindex="-1">${e.action??e.id}</h3>
<span class="muted">${this.sentence()}</span>
</div>
<div class="buttons">
<button class="plain icon" aria-label=${i.previousEvent} title=${i.previousEvent} @click=${()=>this.step(-1)}>↑</button>
<button class="plain icon" aria-label=${i.nextEvent} title=${i.nextEvent} @click=${()=>this.step(1)}>↓</button>
<button class="plain icon" aria-label=${i.close} title=${i.close} @click=${()=>this.dispatchEvent(new CustomEvent("close"))}>✕</button>
</div>
</header>
<div class="body" tabindex="0" role="group" aria-label=${i.details}>
<section aria-label=${i.proof.title}>
<audit-log-proof .event=${e} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${t} exportparts="proof"></audit-log-proof>
</section>
${e.redacted?c`<p class="notice">${i.redacted}</p>`:h}
        <section>
          <dl>
            ${this.row(i.occurredAt,t.full(e.occurred_at))} ${this.row(i.receivedAt,t.full(e.received_at))}
            ${this.row(i.claimedAt,e.claimed_at&&t.full(e.claimed_at))}
            ${this.row(i.category,e.category&&(i.categories[e.category]??e.category),"category",e.category)}
            ${this.row(i.action,e.action,"action")} ${this.row(i.outcome,l&&(i.outcomes[l]??l),"outcome",l)}
            ${this.row(i.tenant,e.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(e.changes)}
        ${this.section(i.actor,[this.row(i.name,r?.name),this.row(i.id,r?.id,"actor_id"),this.row(i.email,r?.email),this.row(i.type,r?.type&&(i.actorTypes[r.type]??r.type),"actor_type",r?.type),this.row(i.onBehalfOf,Mt(r?.on_behalf_of))],r)}
        ${this.section(i.target,[this.row(i.name,n?.name),this.row(i.id,n?.id,"target_id"),this.row(i.type,n?.type,"target_type"),this.row(i.furtherTargets,o?.slice(1).map(Mt).filter(Boolean).join(", "))],n??o?.[0]??void 0)}
        ${this.section(i.context,[this.row(i.ipAddress,a?.ip_address),this.row(i.location,a?.location),this.row(i.userAgent,a?.user_agent),this.row(i.session,a?.session_id)],a)}
        ${this.section(i.metadata,Oi(e.metadata).map(([u,p])=>this.row(u,p)),e.metadata)}
        <section>
          <dl>${this.row(i.id,e.id)} ${this.row(i.contentHash,e.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?i.hideJson:i.rawJson}</button>
          <button @click=${()=>this.copy(j(e))}>${this.copied?i.copied:i.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?c`<pre tabindex="0" aria-label=${i.rawJson}>${j(e)}</pre>`:h}
        </section>
      </div>
    `}sentence(){let{actor:e,target:t,occurred_at:i}=this.event,r=e?.name??e?.id,n=t?.name??t?.id,o=this.formats.relative(i,Date.now());return w([n?`${r??"?"} → ${n}`:r,o].filter(Boolean).join(" · "))}step(e){this.dispatchEvent(new CustomEvent("step",{detail:e}))}section(e,t,i){return i&&Object.keys(i).length>0?c`<section><h4>${e}</h4><dl>${t}</dl></section>`:h}row(e,t,i,r=t){if(t===void 0||t==="")return h;let{messages:n}=this.formats,o={field:i,value:r},a=w(t),l=i?c`<button class="value" title=${n.filterBy(e,a)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${a}</button>`:a;return c`<dt>${w(e)}</dt><dd>${l}</dd>`}changes(e){if(!e||e.length===0)return h;let{messages:t}=this.formats,i=r=>r===void 0?c`<span class="muted">${t.absent}</span>`:Xe(r);return c`<section>
<h4>${t.changes}</h4>
<table>
<thead><tr><th scope="col">${t.field}</th><th scope="col">${t.before}</th><th scope="col">${t.after}</th></tr></thead>
<tbody>
${e.map(r=>c`<tr><th scope="row">${w(r.field)}</th><td class="before">${i(r.before)}</td><td class="after">${i(r.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(e){await navigator.clipboard.writeText(e).catch(()=>{}),this.copied=this.formats.messages.copied}};function Mt(s){return[s?.name,s?.id].filter(Boolean).join(" · ")}function Oi(s){let e=[],t=(i,r)=>{if(!(typeof r=="object"&&r!==null&&!Array.isArray(r)&&Object.keys(r).length>0))return void e.push([i,Xe(r)]);for(let[o,a]of Object.entries(r))t(i?`${i}.${o}`:o,a)};return s&&t("",s),e}var ie=["auth","access","mutation","admin","security","system"];var be=["search","category","action","actor_id","actor_type","target_id","target_type","outcome","tenant_id","start_date","end_date"];function H(s){let e={};for(let t of be){let i=s[t]?.trim();i&&(e[t]=i)}return e}function Nt(s){return Object.keys(H(s)).length===0}function z(s){let e=H(s);return e.search===void 0?e:{...e,search_mode:"prefix",search_in:["names","ids","email"]}}function Lt(s){let{search:e,start_date:t,end_date:i,...r}=H(s);return r}function se(s){let e=new URLSearchParams(H(s.filter));return s.event&&e.set("event",s.event),e.toString()}function we(s){let e=new URLSearchParams(s.replace(/^#/,"")),t={};for(let r of be){let n=e.get(r);n&&(t[r]=n)}let i=e.get("event")??"";return{filter:H(t),event:/^evt_[0-9A-Z]{26}$/.test(i)?i:void 0}}function Ut(s){return V(s)?.tenant_id}function V(s){let[,e]=s.replace(/^vt_/,"").split(".");if(!(!s.startsWith("vt_")||!e))try{let t=Uint8Array.from(atob(e.replace(/-/g,"+").replace(/_/g,"/")),i=>i.charCodeAt(0));return JSON.parse(new TextDecoder().decode(t))}catch{return}}var re=class{constructor(e,t,i){this.language=e;this.messages=t;this.buckets=new Map;this.zone=i?"UTC":new Intl.DateTimeFormat().resolvedOptions().timeZone;let r=i?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(e,{...r,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(e,{...r,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(e,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(e)}number(e){return this.numbers.format(e)}absolute(e){return this.absoluteTime.format(new Date(e))}full(e){return this.fullTime.format(new Date(e))}relative(e,t){let i=Math.round((Date.parse(e)-t)/1e3),r=Math.abs(i);if(r<10)return this.messages.justNow;let n=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=n.find(([,l])=>r>=l)??["second",1];return this.relativeTime.format(Math.trunc(i/a),o)}bucket(e,t,i){let r=`${t} ${i}`,n=this.buckets.get(r);if(!n){let o={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric"},week:{year:"numeric",month:"short",day:"numeric"},month:{year:"numeric",month:"long"}};n=new Intl.DateTimeFormat(this.language,{timeZone:i,...o[t]}),this.buckets.set(r,n)}return n.format(new Date(e))}bytes(e){let t=e<1e6?"kilobyte":"megabyte",i=e/(t==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:t,maximumFractionDigits:1}).format(i)}};function It(s,e,t){let i=new Date(s);if(e==="minute")return i.getTime()+6e4;if(e==="hour")return i.getTime()+36e5;let[r,n]={day:[0,1],week:[0,7],month:[1,0]}[e];return t==="UTC"?Date.UTC(i.getUTCFullYear(),i.getUTCMonth()+r,i.getUTCDate()+n):new Date(i.getFullYear(),i.getMonth()+r,i.getDate()+n).getTime()}function Dt(s,e){if(!s||Number.isNaN(Date.parse(s)))return"";let t=new Date(s);return(e?t:new Date(t.getTime()-t.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function Ht(s,e,t){if(!s)return;let i=Date.parse(e?`${s}Z`:s);return Number.isNaN(i)?void 0:new Date(i+(t?999:0)).toISOString()}var Fi=350,Bt={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},$e=class extends y{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[E,$`
:host { display: block; }
.row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin-top: 8px; }
.search { flex: 1 1 180px; }
label { display: flex; flex-direction: column; gap: 2px; min-width: 0; font-size: 0.88em; color: var(--muted); }
label > :is(input, select) { font-size: var(--size); color: var(--text); width: 100%; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
.chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
.chip span:last-of-type { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
.dates { display: flex; flex-wrap: wrap; gap: 8px; }
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(e,t){let i={...this.filter};t?i[e]=t:delete i[e],this.change(i)}change(e){clearTimeout(this.typing),this.filter=e,this.dispatchEvent(new CustomEvent("filter-change",{detail:H(e)}))}onInput(e,t){let{value:i}=t.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(e,i),Fi)}onEnter(e,t){t.key==="Enter"&&this.set(e,t.target.value)}rangeName(){let{start_date:e,end_date:t}=this.filter;return this.isCustomRange?"custom":!e&&!t?"all":this.chosen&&!t&&this.chosen.start===e?this.chosen.name:"custom"}onRange(e){let{value:t}=e.target;if(this.isCustomRange=t==="custom",t==="custom")return;let{start_date:i,end_date:r,...n}=this.filter;if(t==="all")return this.change(n);let o=t,a=new Date(Date.now()-Bt[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...n,start_date:a})}render(){let{messages:e}=this.formats,t=this.rangeName(),i=Object.keys(this.filter).length;return c`
<div class="row" role="search" part="filters">
<input
class="search"
type="search"
aria-label=${e.search}
placeholder=${`${e.search}: ${e.searchHint}`}
          maxlength="256"
          .value=${this.filter.search??""}
          @input=${r=>this.onInput("search",r)}
          @keydown=${r=>this.onEnter("search",r)}
        />
        <select aria-label=${e.category} @change=${r=>this.set("category",r.target.value)}>
          <option value="" .selected=${!this.filter.category}>${e.allCategories}</option>
          ${ie.map(r=>c`<option value=${r} .selected=${this.filter.category===r}>${this.categoryLabel(r)}</option>`)}
        </select>
        <select aria-label=${e.range} @change=${this.onRange}>
          ${["all",...Object.keys(Bt),"custom"].map(r=>c`<option value=${r} .selected=${t===r}>${e.ranges[r]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?e.fewerFilters:e.moreFilters}
        </button>
        ${i>0?c`<button class="plain" @click=${()=>this.clear()}>${e.clearFilters}</button>`:h}
        <slot></slot>
      </div>
      ${t==="custom"?this.dates():h}
      ${this.isExpanded?this.fields():h} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(e){let t=this.formats.messages.categories[e]??e,i=this.top?.category?.find(r=>r.value===e);return i?`${t} (${this.formats.number(i.count)})`:t}dates(){let{messages:e}=this.formats,t=(i,r)=>c`
<label>
${r} (${this.formats.zone})
<input
type="datetime-local"
step="1"
.value=${Dt(this.filter[i],this.isUtc)}
@change=${n=>this.set(i,Ht(n.target.value,this.isUtc,i==="end_date"))}
/>
</label>
`;return c`<div class="dates">${t("start_date",e.from)} ${t("end_date",e.to)}</div>`}fields(){let{messages:e}=this.formats,t=[{field:"action",label:e.action,hint:e.actionHint,suggestions:"action"},{field:"actor_id",label:e.actorId,suggestions:"actor_id"},{field:"target_id",label:e.targetId},{field:"target_type",label:e.targetType,suggestions:"target_type"}];return this.hasTenants&&t.push({field:"tenant_id",label:e.tenant,suggestions:"tenant_id"}),c`<div class="grid">
${t.map(i=>this.textField(i))} ${this.choice("actor_type",e.actorType,e.actorTypes)}
${this.choice("outcome",e.outcome,e.outcomes)}
</div>`}choice(e,t,i){return c`<label>
${t}
<select @change=${r=>this.set(e,r.target.value)}>
<option value="" .selected=${!this.filter[e]}>${this.formats.messages.any}</option>
${Object.entries(i).map(([r,n])=>c`<option value=${r} .selected=${this.filter[e]===r}>${n}</option>`)}
      </select>
    </label>`}textField({field:e,label:t,hint:i,suggestions:r}){let n=(r&&this.top?.[r])??[],o=`suggestions-${e}`;return c`<label>
${t}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${i??""}
list=${n.length>0?o:h}
.value=${this.filter[e]??""}
@input=${a=>this.onInput(e,a)}
@keydown=${a=>this.onEnter(e,a)}
/>
</label>
${n.length>0?c`<datalist id=${o}>${n.map(({value:a,count:l})=>c`<option value=${a}>${this.formats.number(l)}</option>`)}</datalist>`:h}`}chips(){let{messages:e}=this.formats,t={search:e.search,category:e.category,action:e.action,actor_id:e.actorId,actor_type:e.actorType,target_id:e.targetId,target_type:e.targetType,outcome:e.outcome,tenant_id:e.tenant,start_date:e.from,end_date:e.to},i=be.filter(n=>this.filter[n]&&n!=="search"&&n!=="category");if(i.length===0)return h;let r=(n,o)=>n.endsWith("_date")?this.formats.absolute(o):w(o);return c`<div class="chips">
${i.map(n=>{let o=r(n,this.filter[n]??"");return c`<button class="chip" title=${e.removeFilter(t[n],o)} @click=${()=>this.set(n,void 0)}>
          <span class="muted">${t[n]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var O=64,xe=class extends y{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([t])=>{t&&(this.width=Math.floor(t.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[E,$`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${O}px; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; justify-content: space-between; gap: 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
.zoom { min-height: 20px; padding: 0 6px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let t=this.renderRoot.querySelector(".chart");t&&this.observer.observe(t)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(t){t.has("summary")&&(this.bars=this.summary?Mi(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(t){let i=this.bars[t];if(!i||!this.summary)return"";let{messages:r}=this.formats,n=r.eventCount(this.formats.number(i.count),i.count===1);return r.bucket(this.name(i),n)}selectionLabel(){let[t,i]=this.selection();if(t===i)return this.label(t);let r=this.bars.slice(t,i+1).reduce((a,l)=>a+l.count,0),{messages:n}=this.formats,o=`${this.name(this.bars[t])} – ${this.name(this.bars[i])}`;return n.bucket(o,n.eventCount(this.formats.number(r),r===1))}name(t){return t&&this.summary?this.formats.bucket(t.start,this.summary.interval,this.summary.zone):""}selection(){let t=this.anchor??this.active;return[Math.min(t,this.active),Math.max(t,this.active)]}render(){let{messages:t}=this.formats,i=this.bars.length,r=Math.max(1,...this.bars.map(d=>d.count)),n=i?this.width/i:0,o=n>4?1:0,[a,l]=this.selection(),u=this.bars.map((d,f)=>this.stack(d,f*n,Math.max(n-o,.5),r)),p=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return c`
<div
class="chart"
part="histogram"
role="slider"
tabindex="0"
aria-label=${t.histogram}
aria-valuemin="0"
aria-valuemax=${Math.max(i-1,0)}
aria-valuenow=${Math.max(this.active,0)}
aria-valuetext=${this.active>=0?this.selectionLabel():t.histogramHelp}
title=${t.histogramHelp}
@keydown=${this.onKey}
@focus=${()=>this.moveTo(this.active<0?i-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${O}" preserveAspectRatio="none" aria-hidden="true">
${u}
<line class="base" x1="0" x2=${this.width} y1=${O-.5} y2=${O-.5}></line>
${p||this.active>=0&&n>0?ge`<rect class="selection" x=${a*n} y="0" width=${(l-a+1)*n} height=${O}></rect>`:h}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?c`<b aria-live="off">${this.selectionLabel()}</b>`:this.legend()}
        <span>
          ${this.caption()}
          ${this.isZoomed?c`<button class="plain zoom" @click=${()=>this.zoomOut()}>${t.zoomOut}</button>`:h}
        </span>
      </div>
    `}legend(){let t=ie.filter(r=>this.bars.some(n=>n.categories?.[r])),i=this.formats.messages.categories;return c`<span class="legend">${t.map(r=>c`<span><span class="dot ${r}"></span>${i[r]??r}</span>`)}</span>`}caption(){let[t,i]=[this.bars[0],this.bars.at(-1)];return!t||!i||!this.summary?h:this.active>=0?this.summary.zone:`${this.name(t)} – ${this.name(i)} · ${this.summary.zone}`}stack(t,i,r,n){if(t.count===0)return h;let o=(O-4)/n;if(!t.categories){let l=Math.max(t.count*o,1.5);return ge`<rect class="all" x=${i} width=${r} y=${O-l} height=${l}></rect>`}let a=O;return ie.map(l=>{let u=t.categories?.[l]??0;if(u===0)return h;let p=Math.max(u*o,1.5);return a-=p,ge`<rect class=${l} x=${i} width=${r} y=${Math.max(a,0)} height=${p}></rect>`})}moveTo(t,i){i?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(t,this.bars.length-1))}onKey(t){let r=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:r,ArrowLeft:-r,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[t.key];if(o!==void 0)this.moveTo(this.active+o,t.shiftKey);else if(t.key==="Enter"||t.key===" ")this.zoom();else if(t.key==="Escape"&&this.isZoomed)this.zoomOut();else return;t.preventDefault(),t.stopPropagation()}indexAt(t){let i=t.currentTarget.getBoundingClientRect(),r=Math.max(0,Math.min(t.clientX-i.left,i.width-1));return Math.floor(r/i.width*this.bars.length)}onDown(t){t.button!==0||this.bars.length===0||(t.currentTarget.setPointerCapture(t.pointerId),this.isDragging=!0,this.active=this.indexAt(t),this.anchor=this.active)}onMove(t){this.bars.length>0&&(this.active=this.indexAt(t))}onUp(t){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(t),this.zoom())}zoom(){let[t,i]=this.selection(),[r,n]=[this.bars[t],this.bars[i]];if(!r||!n)return;let o={start:new Date(r.start).toISOString(),end:new Date(n.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function Mi({buckets:s,interval:e,zone:t}){let i=s.slice(1).map(({start:r})=>Date.parse(r));return s.map((r,n)=>({...r,end:i[n]??It(r.start,e,t)}))}var k=class extends Error{constructor(t,i,r){super(i,r);this.code=t}code;name="VerificationError"};function g(s,e,t){if(!s)throw new k(e,t)}var Ni=new TextEncoder;function J(s){return Ni.encode(s)}function ke(...s){let e=new Uint8Array(s.reduce((i,r)=>i+r.length,0)),t=0;for(let i of s)e.set(i,t),t+=i.length;return e}function K(s,e){if(s.length!==e.length)return!1;let t=0;for(let i=0;i<s.length;i+=1)t|=s[i]^e[i];return t===0}function Ye(s){return Array.from(s,e=>e.toString(16).padStart(2,"0")).join("")}function W(s,e,t){return g(typeof s=="string"&&s.length===2*t&&/^[0-9a-f]*$/.test(s),"malformed",`${e} is not ${2*t} hexadecimal digits`),Uint8Array.from({length:t},(i,r)=>Number.parseInt(s.slice(2*r,2*r+2),16))}function F(s,e){g(typeof s=="string","malformed",`${e} is not base64`);let t;try{t=atob(s)}catch(i){throw new k("malformed",`${e} is not base64`,{cause:i})}return g(btoa(t)===s,"malformed",`${e} is not base64`),Uint8Array.from(t,i=>i.charCodeAt(0))}function Ae(){let s=globalThis.crypto?.subtle;if(s===void 0)throw new k("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return s}async function T(...s){return new Uint8Array(await Ae().digest("SHA-256",ke(...s)))}var Li=128,Ui=Uint8Array.of(0),Ii=Uint8Array.of(1);function et(s){return T(Ui,s)}function Qe(s,e){return T(Ii,s,e)}function jt(s,e){return g(Array.isArray(s)&&s.length<=Li,"malformed",`${e} is not a list of hashes`),s.map(t=>{let i=F(t,`a hash of ${e}`);return g(i.length===32,"malformed",`a hash of ${e} is not 32 bytes long`),i})}async function tt(s){let{index:e,size:t}=s;g(Number.isSafeInteger(e)&&e>=0&&e<t,"not_included","the log has no such position");let i=e,r=t-1,n=s.leaf;for(let o of s.hashes){if(g(r!==0,"not_included","the proof has too many hashes"),i%2===1||i===r)for(n=await Qe(o,n);i%2===0&&i!==0;)i=Math.floor(i/2),r=Math.floor(r/2);else n=await Qe(n,o);i=Math.floor(i/2),r=Math.floor(r/2)}g(r===0,"not_included","the proof has too few hashes"),g(K(n,s.root),"not_included","the event is not in the log at this position")}var Di=128*1024,Hi=100,zt="— ",Bi=1;async function Vt(s){let e=a=>{throw new k("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[t="",i="",...r]=s.trim().split("+"),n=(()=>{try{return{id:W(i,"the key id",4),bytes:F(r.join("+"),"the key")}}catch(a){return e(a)}})();(!Jt(t)||n.bytes.length!==33||n.bytes[0]!==Bi)&&e();let o=(await T(J(`${t}
`),n.bytes)).slice(0,4);return g(K(o,n.id),"invalid_key","the key id is not that of the key"),{name:t,id:n.id,publicKey:n.bytes.slice(1)}}function Jt(s){return s!==""&&!/[\s+\u0000-\u001f]/u.test(s)}async function ji(s){let e=typeof s=="string"?[s]:s;return g(e.length>0,"invalid_key","no key is given"),Promise.all(e.map(Vt))}function zi(s){let e="a line after the text of the note is not a signature";g(s.startsWith(zt),"malformed",e);let[t="",i,...r]=s.slice(zt.length).split(" ");g(Jt(t)&&r.length===0,"malformed",e);let n=F(i,"a signature");return g(n.length>4,"malformed",e),{name:t,id:n.slice(0,4),bytes:n.slice(4)}}async function Vi(s,e,t){let i;try{i=await Ae().importKey("raw",s.publicKey,{name:"Ed25519"},!1,["verify"])}catch(r){throw new k("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:r})}return Ae().verify({name:"Ed25519"},i,t,J(e))}async function Kt(s,e){g(typeof s=="string"&&s.length<=Di,"malformed","the note is too long"),g(!/[\u0000-\u0009\u000b-\u001f]/.test(s),"malformed","the note has control characters");let t=s.lastIndexOf(`

`);g(t>=0&&s.endsWith(`
`)&&s.length>t+2,"malformed","the note has no signatures");let i=s.slice(0,t+1),r=s.slice(t+2,-1).split(`
`);g(r.length<=Hi,"malformed","the note has too many signatures");let n;for(let o of r.map(zi)){let a=e.find(({name:l,id:u})=>l===o.name&&K(u,o.id));a!==void 0&&(g(await Vi(a,i,o.bytes),"invalid_signature","a signature is not valid"),n??=a)}return g(n!==void 0,"invalid_signature","the note is not signed by the given key"),{text:i,key:n}}async function it(s,e,t){let{text:i,key:r}=await Kt(s,await ji(e)),[n="",o="",a="",...l]=i.slice(0,-1).split(`
`);g(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let u=Number(o);g(Number.isSafeInteger(u),"malformed","the size of the checkpoint is too large");let p=F(a,"the root of the checkpoint");return g(p.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),g(u>0||K(p,await T()),"malformed","the root is not that of the empty log"),g(l.every(d=>d!==""),"malformed","the checkpoint has an empty line"),t!==void 0&&g(n===t,"other_log",`this is a checkpoint of ${n}, not of ${t}`),g(n.startsWith(`${r.name}/`),"other_log",`${n} is not a log of ${r.name}`),{origin:n,size:u,root:p,signedBy:r.name}}function st(s){let e=s.origin.slice(s.signedBy.length+1),t=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(e);return g(t!==null,"other_log",`${s.origin} is not the log of a project or of one of its tenants`),{log:t[1],tenantLabel:t[2]}}var R=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],Wt={kind:["action","actor.type","category","target.type","outcome"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name","actor.on_behalf_of"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name","targets"]},Ji=["id","occurred_at","received_at","tenant_id","claimed_at"],Ki=new Set(["claimed_at","outcome","actor.on_behalf_of","targets"]),_e=16,Wi=32;function qi(s,e){let t=s;for(let i of e.split(".")){if(typeof t!="object"||t===null||!Object.hasOwn(t,i))return;t=t[i]}return t}function qt(s,e){let t=e.flatMap(i=>{let r=qi(s,i);return r!==void 0?[ve(r)]:Ki.has(i)?[]:[""]});return J(t.join(`
`))}async function Zi(s){let e=Array.from({length:Math.ceil(R.length/2)},(i,r)=>T(Uint8Array.of(4),s,Uint8Array.of(r))),t=ke(...await Promise.all(e));return R.map((i,r)=>t.slice(_e*r,_e*(r+1)))}function Zt(s,e,t){return T(Uint8Array.of(2),t,Uint8Array.of(e),qt(s,Wt[R[e]]))}function Gt(s,e,t){return T(Uint8Array.of(3),J(`${t}
`),...e,qt(s,Ji))}async function rt(s,e,t){let i=await Zi(W(e,"content_salt",_e)),r=await Promise.all(i.map((n,o)=>Zt(s,o,n)));return Gt(s,r,t)}async function nt(s,e,t){g(Object.keys(e).length===R.length&&R.every(r=>Object.hasOwn(e,r)),"malformed","the proof does not have the eleven parts of an event");let i=R.map((r,n)=>{let o=e[r];return g(typeof o=="object"&&o!==null,"malformed",`the part ${r} is not an object`),"hash"in o?(g(!("salt"in o),"malformed",`the part ${r} has both a salt and a hash`),W(o.hash,`the hash of the part ${r}`,Wi)):Zt(s,n,W(o.salt,`the salt of the part ${r}`,_e))});return Gt(s,await Promise.all(i),t)}var x=class extends Error{constructor(t,i,r=0,n="",o="",a=[],l){super(i);this.kind=t;this.status=r;this.code=n;this.requestId=o;this.details=a;this.#e=l}#e;refuses(t){return this.kind==="expired"&&(this.#e===void 0||this.#e===t)}},Gi={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},ne=class{constructor(e){this.connection=e}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(e,t={},i){return this.json(await this.fetch("GET",e,{parameters:t,signal:i}))}async text(e,t={}){return(await this.fetch("GET",e,{parameters:t})).text().catch(ot)}async send(e,t,i,r={}){return this.json(await this.fetch(e,t,{parameters:r,body:i}))}async json(e){let t=await e.text().catch(ot);try{return Ot(t)}catch{throw new x("server","the response is not JSON",e.status)}}async fetch(e,t,i={}){let{credential:r,baseUrl:n,projectId:o,environment:a}=this.connection,l=new URLSearchParams;for(let[v,b]of Object.entries(i.parameters??{}))if(!(b===void 0||b===""))for(let Z of Array.isArray(b)?b:[b])l.append(v,String(Z));this.isMaster&&a==="test"&&/^\/(events|alerts(\?|$|\/alt_)|log)/.test(t)&&l.set("environment","test");let u={};r&&(u.Authorization=`Bearer ${r}`),this.isMaster&&o&&!t.startsWith("/projects")&&(u["X-Project-Id"]=o),i.accept&&(u.Accept=i.accept);let p={method:e,headers:u,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};i.signal&&(p.signal=i.signal),i.body!==void 0&&(u["Content-Type"]="application/json",p.body=JSON.stringify(i.body));let d=l.toString(),f=`${n.replace(/\/+$/,"")}/api/v1${t}${d&&`?${d}`}`,m=await fetch(f,p).catch(ot);if(!m.ok)throw await Xi(m,r);return m}};function ot(s){throw s instanceof DOMException&&s.name==="AbortError"?s:new x("offline","no response from the server")}async function Xi(s,e){let t=await s.json().catch(()=>({})),i=Gi[s.status]??"server",r=t.error?.message??`status ${s.status}`;return new x(i,r,s.status,t.error?.code,t.request_id,t.error?.details,e)}function A(s){return s instanceof DOMException&&s.name==="AbortError"}function _(s){return s instanceof x?s:new x("server",s instanceof Error?s.message:String(s))}async function Ee(s,e,t){let i,r=t?.trim()||void 0;try{i=await s.get(`/events/${e.id}/proof`),!r&&!s.isViewer&&(r=(await s.text("/log/key")).trim())}catch(n){let o=_(n),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return Qi(e,i,r,!!t?.trim(),Yi(s))}function Yi(s){let e=V(s.connection.credential)?.sub;return e?`${e}/live`:void 0}async function Qi(s,e,t,i,r){let n=[],o=async(d,f)=>{try{return n.push({name:d,state:"ok",detail:await f()}),!0}catch(m){if(m instanceof k&&m.code==="unsupported_runtime")throw m;return n.push({name:d,state:"failed",detail:m instanceof Error?m.message:String(m)}),!1}},a=ss(e.checkpoint),l=a?rs(a.origin):void 0;try{if(await o("identity",async()=>es(s,e,l,r)),await o("content",()=>ts(s,e,l)),await o("inclusion",()=>is(e,a)),t){let d;await o("signature",async()=>(d=await it(e.checkpoint,t,a?.origin),st(d),d.signedBy))}else n.push({name:"signature",state:"skipped",detail:""})}catch(d){return{outcome:"unavailable",steps:n,reason:"unsupported",message:_(d).message,hidden:[]}}n.push({name:"key",state:i&&n.at(-1)?.state==="ok"?"ok":"skipped",detail:t??""});let p={outcome:n.some(d=>d.state==="failed")?"failed":i?"verified":"consistent",steps:n,hidden:ns(e),position:e.seq,key:t};return a&&Object.assign(p,{origin:a.origin,size:a.size}),p}function es(s,e,t,i){if(s.content_hash!==e.content_hash)throw new Error("the proof is one of another event");if(!t)throw new Error("the checkpoint does not name a log of a project");if(i&&t!==i)throw new Error(`the proof is one of the log ${t}`);return s.id}async function ts(s,e,t){if(!t)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:i,parts:r}=e,o=typeof i=="string"?await rt(s,i,t):await nt(s,r??{},t),a=`sha256:${Ye(o)}`;if(a!==e.content_hash)throw new Error(`the fields shown give ${a}, the log has ${e.content_hash}`);return a}async function is(s,e){if(!e)throw new Error("the checkpoint is not in the form of one");let t=s.content_hash.replace(/^sha256:/,""),i=Uint8Array.from(t.match(/../g)??[],o=>Number.parseInt(o,16)),r=jt(s.inclusion,"the inclusion proof"),n=await et(i);return await tt({index:s.seq,size:e.size,leaf:n,hashes:r,root:F(e.root,"the root")}),`${s.seq} / ${e.size}`}function ss(s){if(typeof s!="string")return;let[e="",t="",i=""]=s.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(t)?{origin:e,size:Number(t),root:i}:void 0}function rs(s){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(s)?.[1]}function ns(s){let{content_salt:e,parts:t}=s;return typeof e=="string"||!t?[]:R.filter(i=>Object.hasOwn(t[i]??{},"hash"))}var Te=class extends y{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[E,$`
:host { display: block; }
.mark { border-inline-start: 4px solid var(--border); padding: 8px 12px; border-radius: var(--radius); background: var(--surface); }
.mark.verified { border-color: var(--good); background: var(--good-bg); }
.mark.consistent { border-color: var(--accent); background: var(--selected); }
.mark.failed { border-color: var(--bad); background: var(--bad-bg); }
.mark.unavailable { border-color: var(--warn); }
h4 { display: flex; align-items: center; gap: 8px; margin: 0 0 4px; font-size: 1em; }
.verified h4 { color: var(--good); } .consistent h4 { color: var(--accent); } .failed h4 { color: var(--bad); } .unavailable h4 { color: var(--warn); }
p { margin: 4px 0; }
ul { margin: 8px 0; padding: 0; list-style: none; }
li { padding-block: 2px; padding-inline-start: 22px; position: relative; }
li::before { position: absolute; inset-inline-start: 2px; }
li.ok::before { content: "✓"; color: var(--good); } li.failed::before { content: "✗"; color: var(--bad); font-weight: 700; }
li.skipped::before { content: "–"; }
.detail { display: block; overflow-wrap: anywhere; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
`]}willUpdate(t){(t.has("event")||t.has("pinnedKey"))&&this.check()}async check(){let t=++this.run;this.report=void 0;let i=await Ee(this.api,this.event,this.pinnedKey);if(t!==this.run)return;this.report=i;let r={event:this.event.id,outcome:i.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:r,bubbles:!0,composed:!0}))}render(){let{messages:t}=this.formats,i=t.proof,{report:r}=this;if(!r)return c`<div class="mark" role="status"><p class="spinner">${i.running}</p></div>`;let n={verified:i.verified,consistent:i.consistent,failed:i.failed,unavailable:i.unavailable},o={verified:i.verifiedText,consistent:i.consistentText,failed:i.failedText,unavailable:this.reason(r)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},l=r.outcome==="verified"||r.outcome==="consistent";return c`
<div class="mark ${r.outcome}" part="proof proof-${r.outcome}" role=${r.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[r.outcome]}</span>${n[r.outcome]}</h4>
<p>${o[r.outcome]}</p>
${r.outcome==="consistent"?c`<p>${r.key?i.unpinnedText:i.noKeyText}</p>`:h}
        ${r.hidden.length>0?c`<p>${i.hidden(r.hidden.join(", "))}</p>`:h}
        ${r.steps.length>0?c`<details ?open=${!l}>
<summary>${i.checks}</summary>
${r.outcome==="verified"?c`<p>${i.pinnedText}</p>`:h}
              <ul class="steps">${r.steps.map(u=>this.step(u))}</ul>
              ${this.facts(r)}
            </details>`:h}
        <details>
          <summary>${i.notProven}</summary>
          <ul>${i.notProvenList.map(u=>c`<li>${u}</li>`)}</ul>
        </details>
        ${l?h:c`<p><button @click=${()=>this.check()}>${i.again}</button></p>`}
      </div>
    `}reason(t){let i=this.formats.messages.proof,n={forbidden:i.tier,unsupported:i.unsupported,offline:this.formats.messages.offlineText,other:""}[t.reason??"other"]||t.message||"";return`${i.unavailableText} ${n}`}step({name:t,state:i,detail:r}){let n=this.formats.messages.proof;return c`<li class=${i}>
${n.steps[t]}${i==="skipped"?c` <span class="muted">(${n.skipped})</span>`:h}
      ${i==="failed"?c`<code class="detail">${r}</code>`:h}
    </li>`}facts({position:t,size:i,origin:r,key:n}){let o=this.formats.messages.proof;return t===void 0||i===void 0?h:c`
<p>${o.position(this.formats.number(t+1),this.formats.number(i))}</p>
<dl>
${r?c`<dt class="muted">${o.signedBy}</dt><dd class="mono">${r}</dd>`:h}
        ${n?c`<dt class="muted">${o.key}</dt><dd class="mono">${n}</dd>`:h}
      </dl>
    `}};function os(s){return{for:"excel",separator:new Intl.NumberFormat(navigator.language).formatToParts(1.5).some(({type:i,value:r})=>i==="decimal"&&r===",")?"semicolon":"comma",time_zone:s}}function as(s){let[,e]=/;\s*filename\*\s*=\s*UTF-8'[^']*'([^\s;]+)/i.exec(s)??[];try{if(e)return decodeURIComponent(e)}catch{}let[,t,i]=/;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(s)??[];return t?.replace(/\\(.)/g,"$1")??i}async function Xt(s,e,t,i,r,n){let o=t==="excel"?os(i):{format:t},a=await s.fetch("GET","/events/export",{parameters:{...z(e),...o},signal:n}),l=as(a.headers.get("content-disposition")??"")||`audit-events.${t==="jsonl"?"jsonl":"csv"}`,u=[],p=0,d=a.body?.getReader();for(;;){let f=await d?.read().catch(ls);if(!f||f.done)break;u.push(f.value),p+=f.value.length,r(p)}ds(new Blob(u,{type:a.headers.get("content-type")??"application/octet-stream"}),l)}function ls(s){throw A(s)?s:new x("offline","the export was interrupted")}function ds(s,e){let t=URL.createObjectURL(s),i=document.createElement("a");i.href=t,i.download=e,i.click(),setTimeout(()=>URL.revokeObjectURL(t),6e4)}var Se=class{constructor(e){this.host=e;this.isMenuOpen=!1;this.failure=""}abort(){this.running?.abort()}openMenu(e){this.isMenuOpen=e,this.host.requestUpdate()}async save(e,t,i,r){this.openMenu(!1),this.abort();let n=new AbortController;this.running=n,this.failure="";let o=a=>{this.bytes=a,this.host.requestUpdate()};o(0);try{await Xt(e,t,i,r,o,n.signal)}catch(a){A(a)||(this.failure=_(a).message)}finally{o(void 0)}}menu(e,t,{messages:i,zone:r}){return c`<div class="menu" @focusout=${a=>{a.currentTarget.contains(a.relatedTarget)||this.openMenu(!1)}} @keydown=${a=>{a.key==="Escape"&&(this.openMenu(!1),a.currentTarget.querySelector("button")?.focus())}}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.openMenu(!this.isMenuOpen)}>${i.download}</button>
${this.isMenuOpen?c`<div>
            <button @click=${()=>this.save(e,t,"excel",r)}>${i.downloadExcel}</button>
            <button @click=${()=>this.save(e,t,"csv",r)}>${i.downloadCsv}</button>
            <button @click=${()=>this.save(e,t,"jsonl",r)}>${i.downloadJson}</button>
          </div>`:h}
    </div>`}message(e){let{messages:t}=e;return this.bytes!==void 0?c`<div class="notice good" role="status">${t.downloading(e.bytes(this.bytes))}
<button @click=${()=>this.abort()}>${t.cancel}</button></div>`:this.failure?c`<div class="notice bad" role="alert">${t.downloadFailed}: ${this.failure}</div>`:h}};var Yt={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},Qt=s=>(...e)=>({_$litDirective$:s,values:e}),Pe=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,i){this._$Ct=e,this._$AM=t,this._$Ci=i}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};var{I:cs}=Tt,ei=s=>s;var ti=()=>document.createComment(""),q=(s,e,t)=>{let i=s._$AA.parentNode,r=e===void 0?s._$AB:e._$AA;if(t===void 0){let n=i.insertBefore(ti(),r),o=i.insertBefore(ti(),r);t=new cs(n,o,s,s.options)}else{let n=t._$AB.nextSibling,o=t._$AM,a=o!==s;if(a){let l;t._$AQ?.(s),t._$AM=s,t._$AP!==void 0&&(l=s._$AU)!==o._$AU&&t._$AP(l)}if(n!==r||a){let l=t._$AA;for(;l!==n;){let u=ei(l).nextSibling;ei(i).insertBefore(l,r),l=u}}}return t},M=(s,e,t=s)=>(s._$AI(e,t),s),hs={},ii=(s,e=hs)=>s._$AH=e,si=s=>s._$AH,Ce=s=>{s._$AR(),s._$AA.remove()};var ri=(s,e,t)=>{let i=new Map;for(let r=e;r<=t;r++)i.set(s[r],r);return i},ni=Qt(class extends Pe{constructor(s){if(super(s),s.type!==Yt.CHILD)throw Error("repeat() can only be used in text expressions")}dt(s,e,t){let i;t===void 0?t=e:e!==void 0&&(i=e);let r=[],n=[],o=0;for(let a of s)r[o]=i?i(a,o):o,n[o]=t(a,o),o++;return{values:n,keys:r}}render(s,e,t){return this.dt(s,e,t).values}update(s,[e,t,i]){let r=si(s),{values:n,keys:o}=this.dt(e,t,i);if(!Array.isArray(r))return this.ut=o,n;let a=this.ut??=[],l=[],u,p,d=0,f=r.length-1,m=0,v=n.length-1;for(;d<=f&&m<=v;)if(r[d]===null)d++;else if(r[f]===null)f--;else if(a[d]===o[m])l[m]=M(r[d],n[m]),d++,m++;else if(a[f]===o[v])l[v]=M(r[f],n[v]),f--,v--;else if(a[d]===o[v])l[v]=M(r[d],n[v]),q(s,l[v+1],r[d]),d++,v--;else if(a[f]===o[m])l[m]=M(r[f],n[m]),q(s,r[d],r[f]),f--,m++;else if(u===void 0&&(u=ri(o,m,v),p=ri(a,d,f)),u.has(a[d]))if(u.has(a[f])){let b=p.get(o[m]),Z=b!==void 0?r[b]:null;if(Z===null){let dt=q(s,r[d]);M(dt,n[m]),l[m]=dt}else l[m]=M(Z,n[m]),q(s,r[d],Z),r[b]=null;m++}else Ce(r[f]),f--;else Ce(r[d]),d++;for(;m<=v;){let b=q(s,l[v+1]);M(b,n[m]),l[m++]=b}for(;d<=f;){let b=r[d++];b!==null&&Ce(b)}return this.ut=o,ii(s,l),C}});function oi(s){return c`<div class="line" role="row" id="row-${s}" aria-rowindex=${s+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`}function ai(s,e,t,i){let{position:r,isActive:n,isOpen:o,isFresh:a,isRelative:l,hasTenant:u,open:p}=e,d=[n&&"active",o&&"open",a&&"fresh",i.isTampered(s)&&"tampered"],f=l?t.relative(s.occurred_at,Date.now()):t.absolute(s.occurred_at),m=s.category??"system",v=t.messages.categories[m]??m;return c`<div class="line ${d.filter(Boolean).join(" ")}" role="row" part="row" id="row-${r}" aria-rowindex=${r+2} aria-selected=${o} @click=${p}>
<div role="gridcell" class="when"><time datetime=${s.occurred_at} title=${t.full(s.occurred_at)}>${f}</time></div>
<div role="gridcell" class="action"><span class="dot ${m}" role="img" aria-label=${v} title=${v}></span><span>${s.action??"–"}</span>${i.mark(s,t)}</div>
<div role="gridcell" class="who" title=${w(s.actor?.id??"")}>${w(s.actor?.name??s.actor?.id??"–")}</div>
<div role="gridcell" class="what secondary" title=${w(s.target?.id??"")}>${w(s.target?.name??s.target?.id??"–")}</div>
${u?c`<div role="gridcell" class="tenant secondary">${w(s.tenant_id)}</div>`:h}
  </div>`}var us=34,ps=56,fs=640,ms=30,li=12,gs=80,Re=class{constructor(e){this.host=e;this.active=0;this.isNarrow=!1;this.arrivedCount=0;this.resize=new ResizeObserver(([e])=>{e&&(this.isNarrow=e.contentRect.width<fs),this.host.requestUpdate()})}connect(){this.resize.observe(this.host)}disconnect(){this.resize.disconnect()}get element(){return this.host.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?ps:us}reset(){this.arrivedCount=0,this.active=0,this.element&&(this.element.scrollTop=0)}async insert(e){for(let i of e)i<=this.active&&(this.active+=1);let{element:t}=this;e.length>0&&t&&t.scrollTop>0?(this.host.requestUpdate(),await this.host.updateComplete,t.scrollTop+=e.length*this.rowHeight,this.arrivedCount+=e.length):this.active=Math.max(0,Math.min(this.active,this.host.events.length-1))}window(){let{length:e}=this.host.events,t=this.element?.scrollTop??0,i=this.element?.clientHeight||800,r=Math.max(0,Math.floor(t/this.rowHeight)-li);return[Math.min(r,e),Math.min(e,Math.ceil((t+i)/this.rowHeight)+li)]}layOut(){let{events:e,renderRoot:t}=this.host,{pages:i}=e;if(!i)return;let[r,n]=this.window();t.querySelector(".before-rows")?.style.setProperty("height",`${r*this.rowHeight}px`),t.querySelector(".after-rows")?.style.setProperty("height",`${(i.length-n)*this.rowHeight}px`),n+gs>i.length&&e.canReadMore&&e.more(),i.show(r,n).then(o=>o&&this.host.requestUpdate(),o=>e.onBackground(o))}seen(){let{element:e}=this,{pages:t}=this.host.events;if(!t||!e)return[];let i=Math.floor(e.scrollTop/this.rowHeight),r=Math.ceil(e.clientHeight/this.rowHeight);return Array.from({length:r},(n,o)=>t.at(i+o)).filter(n=>n!==void 0)}template(e){let{formats:t,hasTenants:i,events:r}=this.host,{messages:n}=t,[o,a]=this.window(),l=Array.from({length:a-o},(d,f)=>o+f),u=ni(l,d=>d,d=>this.line(d,e.at(d))),p=[n.time,n.action,n.actor,n.target,...i?[n.tenant]:[]];return c`<div class="list">
${this.arrivedCount>0?c`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${n.newEvents(t.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:h}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${n.events} aria-colcount=${p.length}
        aria-rowcount=${e.isComplete?e.length+1:-1}
        aria-activedescendant=${this.active>=o&&this.active<a?`row-${this.active}`:h}
        @scroll=${()=>this.onScroll()} @keydown=${d=>this.onKey(d)}
      >
        <div class="columns" role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${p.map(d=>c`<div role="columnheader">${d}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${u}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${e.isComplete?n.endOfLog:r.isLoadingMore?n.loadingMore:h}</div>
      </div>
    </div>`}line(e,t){if(!t)return oi(e);let{host:i}=this,r={position:e,isActive:e===this.active,isOpen:t.id===i.openedId,isFresh:i.events.freshIds.has(t.id),isRelative:!i.isAbsolute||this.isNarrow,hasTenant:i.hasTenants,open:()=>i.open(e)};return ai(t,r,i.formats,i.checks)}onScroll(){this.element?.scrollTop===0&&(this.arrivedCount=0),this.host.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.element?.scrollTo({top:0}),this.element?.focus(),this.host.requestUpdate()}onKey(e){let t=Math.max(1,Math.floor((this.element?.clientHeight??400)/this.rowHeight)-2),r={ArrowDown:1,ArrowUp:-1,PageDown:t,PageUp:-t,Home:-1/0,End:1/0}[e.key];if(r!==void 0)this.moveBy(r);else if(e.key==="Enter"||e.key===" ")this.host.open(this.active,!0);else if(e.key==="Escape"&&this.host.openedId)this.host.close();else return;e.preventDefault()}moveBy(e){let{element:t}=this,{length:i}=this.host.events;if(!t||i===0)return;this.active=Math.max(0,Math.min(this.active+e,i-1));let r=this.active*this.rowHeight,n=r+this.rowHeight+(this.isNarrow?0:ms);r<t.scrollTop?t.scrollTop=r:n>t.scrollTop+t.clientHeight&&(t.scrollTop=n-t.clientHeight),this.host.requestUpdate(),this.host.openedId&&!this.isNarrow&&this.host.open(this.active)}};var di={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter oder IDs von Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(s,e)=>`Filter entfernen: ${s} ${e}`,filterBy:(s,e)=>`Nur Ereignisse mit ${s} ${e} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(s,e)=>e?`${s} Ereignis`:`${s} Ereignisse`,loadedCount:s=>`${s} Ereignisse geladen`,newEvents:(s,e)=>e?`${s} neues Ereignis`:`${s} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(s,e)=>`${s}: ${e}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",download:"Herunterladen",downloadExcel:"Für Excel herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:s=>`Wird heruntergeladen … ${s}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",claimedAt:"Übernommen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",onBehalfOf:"Im Namen von",furtherTargets:"Weitere Ziele",outcome:"Ergebnis",outcomes:{success:"Erfolg",failure:"Fehler",denied:"Verweigert"},email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",checkShown:"Gezeigte prüfen",checkingShown:(s,e)=>`Prüfung ${s} von ${e} …`,checkedShown:(s,e,t)=>`Nachgewiesen: ${s}. Nicht nachgewiesen: ${e}. Ohne Nachweis: ${t}.`,position:(s,e)=>`Stelle ${s} von ${e} im Log`,hidden:s=>`Für Sie nicht sichtbar und daher nicht geprüft: ${s}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var Oe={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words or ids of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(s,e)=>`Remove filter ${s}: ${e}`,filterBy:(s,e)=>`Show only events with ${s} ${e}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(s,e)=>e?`${s} event`:`${s} events`,loadedCount:s=>`${s} events loaded`,newEvents:(s,e)=>e?`${s} new event`:`${s} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(s,e)=>`${s}: ${e}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",download:"Download",downloadExcel:"Download for Excel",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:s=>`Downloading … ${s}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",claimedAt:"Claimed",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",onBehalfOf:"On behalf of",furtherTargets:"Further targets",outcome:"Outcome",outcomes:{success:"Success",failure:"Failure",denied:"Denied"},email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",checkShown:"Verify shown events",checkingShown:(s,e)=>`Verifying ${s} of ${e} …`,checkedShown:(s,e,t)=>`Verified: ${s}. Not verified: ${e}. Without a proof: ${t}.`,position:(s,e)=>`Position ${s} of ${e} in the log`,hidden:s=>`Not visible to you, and so not checked: ${s}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var Fe=new Map([["en",Oe],["de",di]]);function vs(s,e){Fe.set(s.toLowerCase(),{...Fe.get(s.toLowerCase())??Oe,...e})}function ys(){return[...Fe.keys()]}function at(s){for(let e of s)for(let t of[e.toLowerCase(),e.toLowerCase().split("-")[0]??""]){let i=Fe.get(t);if(i)return{name:e,messages:i}}return{name:"en",messages:Oe}}var ci=200,hi=40;function ui(s,e){return s.occurred_at===e.occurred_at?s.id>e.id:s.occurred_at>e.occurred_at}var Me=class{constructor(e,t,i){this.api=e;this.filter=t;this.signal=i;this.pages=[];this.next=null;this.isStarted=!1}continueWith(e){this.api=e}get length(){return this.pages.reduce((e,t)=>e+t.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(e){let t=e;for(let i of this.pages){if(t<i.count)return i.events?.[t];t-=i.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let e=this.next,t=await this.read(e);for(;t.events.length===0&&t.has_more;)e=t.cursor,t=await this.read(e);this.isStarted=!0,this.next=t.has_more?t.cursor:null;let i=t.events.at(-1);i&&this.pages.push({cursor:e,count:t.events.length,events:t.events,lastId:i.id})}read(e){let t={...z(this.filter),limit:ci,cursor:e??void 0};return this.api.get("/events",t,this.signal)}async show(e,t){let i=0,r=this.pages.map(l=>{let u=i;return i+=l.count,{page:l,start:u,end:i}}),n=({start:l,end:u})=>l<t&&u>e,o=r.filter(l=>n(l)&&!l.page.events);await Promise.all(o.map(({page:l})=>this.readAgain(l)));let a=this.pages.filter(l=>l.events).length;if(a>hi){let l=(e+t)/2,u=({start:d,end:f})=>Math.abs((d+f)/2-l),p=r.filter(d=>d.page.events&&d.start>0).sort((d,f)=>u(f)-u(d));for(let{page:d}of p.slice(0,a-hi))d.events=void 0}return o.length>0}async readAgain(e){let{events:t}=await this.read(e.cursor),i=t.findIndex(r=>r.id===e.lastId);e.events=i<0?t:t.slice(0,i+1),e.count=e.events.length}async refresh(){let{events:e}=await this.read(null),t=this.pages[0];if(!t?.events)return e.length>0?void 0:[];let i=new Set(t.events.map(l=>l.id)),r=t.events.at(-1),n=this.pages.length===1&&this.isComplete,o=e.filter(l=>!i.has(l.id)&&(n||r&&ui(l,r)));if(o.length===e.length&&e.length>=ci)return;let a=new Set(o.map(l=>l.id));return t.events=[...t.events,...o].sort((l,u)=>ui(l,u)?-1:1),t.count=t.events.length,t.lastId=t.events.at(-1)?.id??"",t.events.flatMap((l,u)=>a.has(l.id)?[u]:[])}};var pi=1e3,bs=3e4;async function fi(s,e,t,i){let r="latest",n=pi;for(;!i.aborted;){try{for await(let o of $s(s,e,r,i)){if(n=pi,t.connected(!0),o.event==="end"){let{code:a,message:l}=JSON.parse(o.data);throw new x("expired",l,401,a,"",[],s.connection.credential)}o.id&&(r=o.id),o.event==="audit"&&t.arrived()}}catch(o){if(i.aborted||A(o))return;let a=_(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){t.connected(!1),t.ended(a);return}}t.connected(!1),await ws(n*(1+Math.random()),i),n=Math.min(n*2,bs)}}function ws(s,e){return new Promise(t=>{let i=setTimeout(t,s);e.addEventListener("abort",()=>(clearTimeout(i),t()),{once:!0})})}async function*$s(s,e,t,i){let r={...Lt(e),after:t},o=(await s.fetch("GET","/events/feed",{parameters:r,accept:"text/event-stream",signal:i})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:l,value:u}=await o.read();if(l)return;a+=u;let p=a.split(`

`);a=p.pop()??"";for(let d of p)yield xs(d)}}finally{await o.cancel().catch(()=>{})}}function xs(s){let e={event:"",data:"",id:""};for(let t of s.split(`
`)){let i=t.indexOf(": "),r=t.slice(0,i);(r==="event"||r==="data"||r==="id")&&(e[r]=t.slice(i+2))}return e}var mi="UTC";async function lt(s,e,t,i){try{return{...await s.get("/events/summary",{...e,split:"category",time_zone:t},i),zone:t}}catch(r){if(r instanceof x&&r.details.some(({field:o})=>o==="time_zone")&&t!==mi)return lt(s,e,mi,i);throw r}}var ks=400,As=1e4,_s=5e3,Ne=class{constructor(e){this.host=e;this.isLoading=!1;this.isLoadingMore=!1;this.isConnected=!1;this.isOffline=!1;this.isWaiting=!1;this.freshIds=new Set;this.loading=new AbortController;this.following=new AbortController;this.summaryReadAt=0;this.askedAt=-1/0;this.askedFor=""}set(e){Object.assign(this,e),this.host.requestUpdate()}get signal(){return this.loading.signal}get length(){return this.pages?.length??0}stop(){clearTimeout(this.arrivals),this.arrivals=void 0,this.loading.abort(),this.following.abort()}start(){this.stop(),this.loading=new AbortController,this.set({isWaiting:!1,failure:void 0,isOffline:!1,pages:void 0,isLoading:!1}),this.host.eventsStarted(),this.host.token&&this.load(new Me(this.host.api,this.host.filter,this.signal),this.signal)}async load(e,t){this.set({isLoading:!0,pages:e}),this.readSummary(t);try{await e.more()}catch(i){if(A(i))return;this.fail(_(i))}finally{t.aborted||this.set({isLoading:!1})}t.aborted||(this.host.eventsLoaded(e.length),this.failure||this.followLive())}isSameReader(e){let[t,i]=[V(e??""),V(this.host.token)];return!!(t&&i&&t.sub===i.sub&&t.tenant_id===i.tenant_id&&t.tier===i.tier&&this.length>0)}resume(){this.set({isWaiting:!1,failure:void 0}),this.pages?.continueWith(this.host.api),this.followLive()}recount(){this.pages&&this.readSummary(this.signal)}async readSummary(e){this.summaryReadAt=Date.now();try{let t=await lt(this.host.api,z(this.host.filter),this.host.formats.zone,e);this.set({summary:t})}catch(t){!A(t)&&["not_found","forbidden"].includes(_(t).kind)&&this.set({summary:void 0})}}followLive(){if(this.following.abort(),this.set({isConnected:!1}),this.host.paused||!this.host.token)return;this.following=new AbortController;let e=!0,t={arrived:()=>this.onArrival(),connected:i=>{i&&e&&this.onArrival(),e&&=!i,this.set(i?{isConnected:i,isOffline:!1}:{isConnected:i})},ended:i=>{i.kind==="expired"?this.fail(i):this.host.paused=!0}};fi(this.host.api,this.host.filter,t,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.readArrivals()},ks)}async readArrivals(){let{pages:e,signal:t}=this;if(!(!e||this.host.paused))try{let i=await e.refresh();if(t.aborted)return;if(!i)return this.start();for(let r of i){let n=e.at(r);n&&this.freshIds.add(n.id)}await this.host.eventsArrived(i),Date.now()-this.summaryReadAt>As&&this.readSummary(t),this.host.requestUpdate()}catch(i){this.onBackground(i)}}async more(){this.set({isLoadingMore:!0});try{await this.pages?.more()}catch(e){this.onBackground(e)}finally{this.set({isLoadingMore:!1})}}get canReadMore(){return!!(this.pages&&!this.pages.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline)}onBackground(e){A(e)||this.fail(_(e))}fail(e){if(e.kind==="offline"&&this.length>0){this.set({isOffline:!0});return}e.kind==="expired"&&!e.refuses(this.host.token)||(this.set({failure:e}),e.kind==="expired"&&(this.following.abort(),this.set({isConnected:!1}),this.askForToken(e)))}async askForToken(e){let{host:t}=this;if(this.askedFor===t.token)return;this.askedFor=t.token;let i=new CustomEvent("audit-token-expired",{detail:{code:e.code},bubbles:!0,composed:!0,cancelable:!0}),r=!t.dispatchEvent(i),n=Date.now()-this.askedAt<_s;if(this.set({isWaiting:r||!!t.refreshToken&&!n}),!(!t.refreshToken||n)){this.askedAt=Date.now();try{t.token=await t.refreshToken()}catch{this.set({isWaiting:!1})}}}};var Es={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},Le=class{constructor(e){this.host=e;this.outcomes=new Map}clear(){this.outcomes.clear(),this.progress=void 0}note(e,t){this.outcomes.set(e,t),this.host.requestUpdate()}isTampered(e){return this.outcomes.get(e)==="failed"}show(e){this.progress=e,this.host.requestUpdate()}async run(e,t,i,r,n){if(this.progress?.isRunning)return;let{proof:o}=r.messages,a=p=>r.number(p),l={verified:0,consistent:0,failed:0,unavailable:0};for(let[p,d]of e.entries()){this.show({text:o.checkingShown(a(p+1),a(e.length)),isRunning:!0,isBad:l.failed>0});let{outcome:f}=await Ee(t,d,i);if(n.aborted)return;l[f]+=1,this.note(d,f)}let u=o.checkedShown(a(l.verified+l.consistent),a(l.failed),a(l.unavailable));this.show({text:u,isRunning:!1,isBad:l.failed>0})}mark(e,{messages:{proof:t}}){let i=this.outcomes.get(e);if(!i)return h;let r={verified:t.verified,consistent:t.consistent,failed:t.failed,unavailable:t.unavailable}[i];return c`<span class="mark ${i}" role="img" aria-label=${r} title=${r}>${Es[i]}</span>`}message({messages:e}){if(!this.progress)return h;let{text:t,isRunning:i,isBad:r}=this.progress;return c`<div class="notice ${r?"bad":"good"}" role=${r?"alert":"status"}>${t}
${i?h:c`<button @click=${()=>this.show(void 0)}>${e.close}</button>`}</div>`}};function Ue(s,e,t=h){return c`<div class="state" part="state"><h3>${s}</h3><p>${e}</p>${t}</div>`}function gi(s,e,t,i){let r={expired:e.expired,offline:e.offline,busy:e.busy,forbidden:e.forbidden},n={expired:t?e.expiredWaiting:e.expiredText,offline:e.offlineText};return c`
<h3>${r[s.kind]??e.failed}</h3>
<p>${n[s.kind]??s.message}</p>
${s.details.map(({field:o,message:a})=>c`<p><code>${o}</code> ${a}</p>`)}
    ${s.requestId?c`<p class="mono">${e.requestId}: ${s.requestId}</p>`:h}
    ${s.kind==="expired"?h:c`<button @click=${i}>${e.retry}</button>`}
  `}var vi=$`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden;
container-type: inline-size;
}
.root { display: flex; flex-direction: column; flex: 1; min-height: 0; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages > * { margin: 8px 12px 0; }
.main { display: flex; flex: 1; min-height: 0; position: relative; }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) minmax(120px, 1fr) minmax(120px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) minmax(110px, 1fr) minmax(110px, 1fr) minmax(90px, 0.7fr); }
.head { height: 30px; color: var(--muted); font-size: 0.88em; font-weight: 600; background: var(--surface);
border-bottom: 1px solid var(--border); }
.columns { position: sticky; top: 0; z-index: 1; }
.line { height: 34px; border-bottom: 1px solid color-mix(in srgb, var(--border) 55%, transparent); cursor: pointer; }
.line:hover { background: var(--surface); }
.line.active { box-shadow: inset 3px 0 var(--accent); }
[dir="rtl"] .line.active { box-shadow: inset -3px 0 var(--accent); }
.line.open { background: var(--selected); }
.line > div { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .action { display: flex; align-items: center; gap: 8px; font-weight: 500; }
.line.tampered { background: var(--bad-bg); }
.line .mark { flex: none; font-weight: 700; color: var(--muted); } .line .mark.verified { color: var(--good); }
.line .mark.consistent { color: var(--accent); } .line .mark.failed { color: var(--bad); }
.line .action span:nth-child(2) { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
audit-log-event { flex: 0 0 min(46%, 560px); border-inline-start: 1px solid var(--border); }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live[aria-pressed="true"]::before { background: var(--good); }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template-columns: 1fr auto; grid-template-rows: 22px 20px; gap: 0 10px; height: 56px; align-content: center; }
.narrow .line .action { grid-area: 1 / 1; } .narrow .line .when { grid-area: 1 / 2; }
.narrow .line .who { grid-area: 2 / 1; } .narrow .line .what { grid-area: 2 / 2; max-width: 44cqi; } .narrow .line .tenant { display: none; }
.narrow audit-log-event { position: absolute; inset: 0; z-index: 4; border: 0; }
.narrow .tools { margin-inline-start: 0; }
.narrow .menu > div { inset-inline: 0 auto; }
`;var Ts=15e3,oe=class extends y{constructor(){super();this.api=new ne({baseUrl:"",credential:""});this.formats=new re("en",at(["en"]).messages,!1);this.checks=new Le(this);this.events=new Ne(this);this.grid=new Re(this);this.downloads=new Se(this);this.onHash=()=>{!this.fragment||se(we(location.hash))===se(this.view)||this.applyView(we(location.hash))};this.onOnline=()=>{(this.events.isOffline||this.events.failure?.kind==="offline")&&this.events.start()};this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isAbsolute=!0,this.isUtc=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},announcement:{state:!0}}}static{this.styles=[E,Ft,vi]}connectedCallback(){super.connectedCallback(),this.grid.connect(),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Ts),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),this.fragment&&this.applyView(we(location.hash)),this.hasUpdated&&this.events.start()}disconnectedCallback(){super.disconnectedCallback(),this.grid.disconnect(),clearInterval(this.clock),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),this.events.stop(),this.downloads.abort()}get link(){return`${location.href.split("#")[0]}#${se(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted}}applyView(t){this.filter=t.filter,this.wanted=t.event,this.opened=void 0}showView(){this.fragment&&this.link!==location.href&&history.replaceState(history.state,"",this.link),this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:se(this.view)},bubbles:!0,composed:!0}))}willUpdate(t){if(t.has("lang")||t.has("isUtc")||!this.hasUpdated){let o=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:a,messages:l}=at([this.lang,o,...navigator.languages].filter(p=>p)),u=navigator.languages.find(p=>p.split("-")[0]===a.split("-")[0]);this.formats=new re(a.includes("-")?a:u??a,l,this.isUtc)}let r=["baseUrl","token","projectId","environment"].some(o=>t.has(o));r&&(this.api=new ne({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment}));let{events:n}=this;t.has("token")&&n.isSameReader(t.get("token"))?n.resume():r||t.has("filter")?n.start():t.has("isUtc")&&n.recount(),t.has("wanted")&&this.wanted&&n.pages&&!n.isLoading&&this.openById(this.wanted),t.has("paused")&&!r&&n.pages&&n.followLive()}updated(t){(t.has("filter")||t.has("opened"))&&this.showView(),this.grid.layOut()}async reload(){await this.updateComplete,this.events.start()}eventsStarted(){this.grid.reset(),this.checks.clear()}eventsLoaded(t){this.events.failure||(this.announcement=this.formats.messages.loadedCount(this.formats.number(t))),this.wanted&&this.openById(this.wanted)}eventsArrived(t){return this.grid.insert(t)}get openedId(){return this.opened?.id}get hasTenants(){return!Ut(this.token)}verifyShown(){this.checks.run(this.grid.seen(),this.api,this.pinnedKey,this.formats,this.events.signal)}onProof(t){this.opened&&this.checks.note(this.opened,t.detail.outcome)}render(){let{messages:t}=this.formats,{pages:i}=this.events;return c`
<div class="root ${this.grid.isNarrow?"narrow":""} ${this.hasTenants?"tenants":""}" dir=${t.direction} lang=${this.formats.language}>
${this.token?this.head():h}
<div class="messages">${this.messages()}</div>
<div class="main">
${i&&i.length>0?this.grid.template(i):this.emptyState()}
${this.opened?c`<audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${r=>this.step(r.detail)}
                @filter-by=${this.onFilterBy} @audit-proof-checked=${this.onProof} @keydown=${this.onDetailsKey}
              ></audit-log-event>`:h}
        </div>
        ${this.token?this.foot():h}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}head(){let{messages:t}=this.formats,{summary:i,isConnected:r,failure:n}=this.events;return c`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${i?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${o=>this.filter=o.detail}
>
<div class="tools">
<button class="live" aria-pressed=${!this.paused} title=${this.paused?t.liveStart:t.livePause} @click=${()=>this.paused=!this.paused}>
${!this.paused&&!r&&!n?t.liveConnecting:t.live}
</button>
${this.downloads.menu(this.api,this.filter,this.formats)}
</div>
</audit-log-filters>
</div>
${i&&i.buckets.length>0?c`<div class="chart">
            <audit-log-histogram
              .summary=${i} .formats=${this.formats} ?narrow=${this.grid.isNarrow}
              .isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
              @zoom=${o=>this.filter={...this.filter,start_date:o.detail.start,end_date:o.detail.end}}
              @zoom-out=${()=>this.zoomOut()}
            ></audit-log-histogram>
          </div>`:h}
    `}zoomOut(){let{start_date:t,end_date:i,...r}=this.filter;this.filter=r}messages(){let{messages:t}=this.formats,{failure:i,isOffline:r,length:n}=this.events,o=c`<div class="notice" role="status"><b>${t.offline}</b><span>${t.offlineText}</span>
<button @click=${()=>this.events.start()}>${t.retry}</button></div>`;return c`${r?o:h}
${i&&n>0?c`<div class="notice bad" role="alert">${this.failureText(i)}</div>`:h}
      ${this.checks.message(this.formats)} ${this.downloads.message(this.formats)}`}emptyState(){let{messages:t}=this.formats,{failure:i,isLoading:r,pages:n}=this.events;return this.token?i?c`<div class="state" part="state" role="alert">${this.failureText(i)}</div>`:r||!n?c`<div class="state" part="state" role="status"><p class="spinner">${t.loading}</p></div>`:Nt(this.filter)?Ue(t.empty,t.emptyText):Ue(t.emptyFilter,t.emptyFilterText,c`<button @click=${()=>this.filter={}}>${t.clearFilters}</button>`):Ue(t.noToken,t.noTokenText)}failureText(t){return gi(t,this.formats.messages,this.events.isWaiting,()=>this.events.start())}foot(){let{messages:t}=this.formats,{pages:i,summary:r,length:n}=this.events,o=r?.total,a=o??n,l=o===void 0&&!i?.isComplete?t.loadedCount(this.formats.number(n)):t.eventCount(this.formats.number(a),a===1);return c`<footer part="footer">
<span>${n>0||o!==void 0?l:h}</span>
<div class="tools">
<button class="plain" ?disabled=${this.checks.progress?.isRunning} @click=${()=>this.verifyShown()}>${t.proof.checkShown}</button>
${this.fragment?c`<button class="plain" @click=${()=>this.copyLink()}>${t.copyLink}</button>`:h}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?t.relativeTimes:t.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${t.utc}</button>
      </div>
    </footer>`}async copyLink(){await navigator.clipboard.writeText(this.link).catch(()=>{}),this.announcement=this.formats.messages.copied}open(t,i=!1){let r=this.events.pages?.at(t);r&&(this.grid.active=t,this.wanted=void 0,this.opened=r,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:r.id},bubbles:!0,composed:!0})),(i||this.grid.isNarrow)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let t=this.renderRoot.querySelector("audit-log-event");await t?.updateComplete,t?.focus()}async openById(t){try{let{event:i}=await this.api.get(`/events/${t}`,{},this.events.signal);this.wanted=void 0,this.opened=i}catch(i){if(A(i))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(t){this.grid.moveBy(t),this.open(this.grid.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid.element?.focus())}onDetailsKey(t){t.key==="Escape"&&this.close()}onFilterBy(t){this.grid.isNarrow&&(this.opened=void 0),this.filter={...this.filter,[t.detail.field]:t.detail.value}}};function yi(){let s=[["audit-log-proof",Te],["audit-log-event",ye],["audit-log-filters",$e],["audit-log-histogram",xe],["audit-log-viewer",oe]];for(let[e,t]of s)customElements.get(e)||customElements.define(e,t)}yi();export{oe as AuditLogViewer,ys as languageNames,vs as registerLanguage};
/*! Bundled license information:

@lit/reactive-element/css-tag.js:
  (**
   * @license
   * Copyright 2019 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/reactive-element.js:
lit-html/lit-html.js:
lit-element/lit-element.js:
lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/is-server.js:
  (**
   * @license
   * Copyright 2022 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
